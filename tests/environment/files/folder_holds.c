// world: holds
// property: memory
// native: alone
// why: both are asked
#include <dirent.h>
int main(void)
{
    DIR *d = opendir("/nowhere/to/be/found");
    struct dirent *e;
    int first = 0;
    if (!d)
        return 1;
    e = readdir(d);
    if (e)
        first = e->d_name[0];
    closedir(d);
    return first;
}
