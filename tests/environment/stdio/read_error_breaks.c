// world: breaks
// property: assertion
// native: ext
// assumption: io
// why: getchar answers EOF for an error as well, and then feof is false
#include <assert.h>
#include <stdio.h>
int main(void)
{
    int n = 0;
    while (n < 4 && getchar() != EOF)
        n++;
    assert(n == 4 || feof(stdin));
    return 0;
}
