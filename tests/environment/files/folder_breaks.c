// world: breaks
// property: memory
// native: alone
// assumption: io
// why: a folder may not be there
#include <dirent.h>
int main(void)
{
    DIR *d = opendir("/nowhere/to/be/found");
    struct dirent *e = readdir(d);
    return e != 0;
}
