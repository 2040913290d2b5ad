// world: breaks
// property: assertion
// native: wrap printf
// assumption: io output
// why: printf may fail
#include <assert.h>
#include <stdio.h>
int main(void)
{
    int n = printf("%d\n", 12);
    assert(n == 3);
    return 0;
}
