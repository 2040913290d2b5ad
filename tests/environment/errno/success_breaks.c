// world: breaks
// property: assertion
// native: wrap printf
// assumption: output
// why: a call that succeeds may set errno all the same
#include <assert.h>
#include <errno.h>
#include <stdio.h>
int main(void)
{
    errno = 0;
    if (printf("text\n") < 0)
        return 0;
    assert(errno == 0);
    return 0;
}
