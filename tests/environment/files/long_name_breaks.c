// world: breaks
// property: memory
// native: wrap readdir
// why: a name may have 255 characters
#include <dirent.h>
#include <string.h>
int main(void)
{
    char name[16] = "";
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
