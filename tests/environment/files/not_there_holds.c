// world: holds
// property: assertion
// native: alone
// why: two answers
#include <assert.h>
#include <sys/stat.h>
int main(void)
{
    struct stat s;
    int r = stat("/nowhere/to/be/found", &s);
    assert(r == 0 || r == -1);
    return 0;
}
