// world: holds
// property: memory
// native: wrap readdir
// why: room for 255 and a terminator
#include <dirent.h>
#include <string.h>
int main(void)
{
    char name[256] = "";
    DIR *d = opendir(".");
    struct dirent *e;
    if (!d)
        return 1;
    e = readdir(d);
    if (e)
        strcpy(name, e->d_name);
    closedir(d);
    return name[0];
}
