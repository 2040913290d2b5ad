// world: holds
// property: assertion
// native: wrap printf
// why: no function of the library sets it to 0
#include <assert.h>
#include <errno.h>
#include <stdio.h>
int main(void)
{
    errno = EDOM;
    if (printf("text\n") < 0)
        return 0;
    assert(errno != 0);
    return 0;
}
