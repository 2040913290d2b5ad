#include <dirent.h>
#include <string.h>
struct dirent *__wrap_readdir(DIR *d)
{
    static struct dirent e;
    memset(e.d_name, 'n', sizeof e.d_name - 1);
    return &e;
}
