// world: holds
// property: assertion
// native: wrap printf
// why: snprintf writes to memory
#include <assert.h>
#include <stdio.h>
int main(void)
{
    char text[8];
    int n = snprintf(text, sizeof text, "%d\n", 12);
    assert(n == 3);
    return 0;
}
