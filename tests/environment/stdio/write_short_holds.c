// world: holds
// property: assertion
// native: wrap fwrite
// why: never more
#include <assert.h>
#include <stdio.h>
int main(void)
{
    assert(fwrite("abcd", 1, 4, stdout) <= 4);
    return 0;
}
