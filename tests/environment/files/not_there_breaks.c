// world: breaks
// property: assertion
// native: alone
// assumption: io
// why: stat may fail
#include <assert.h>
#include <sys/stat.h>
int main(void)
{
    struct stat s;
    assert(stat("/nowhere/to/be/found", &s) == 0);
    return 0;
}
