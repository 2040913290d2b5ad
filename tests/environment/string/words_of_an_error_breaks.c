// world: breaks
// property: assertion
// native: wrap strerror
// assumption: locale
// why: the words are the library's and the locale's
#include <assert.h>
#include <errno.h>
#include <string.h>
int main(void)
{
    assert(strcmp(strerror(ENOENT), "No such file or directory") == 0);
    return 0;
}
