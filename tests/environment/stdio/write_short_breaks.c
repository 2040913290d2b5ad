// world: breaks
// property: assertion
// native: wrap fwrite
// assumption: io output
// why: fwrite may write less
#include <assert.h>
#include <stdio.h>
int main(void)
{
    assert(fwrite("abcd", 1, 4, stdout) == 4);
    return 0;
}
