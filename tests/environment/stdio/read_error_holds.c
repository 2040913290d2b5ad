// world: holds
// property: assertion
// native: ext
// why: one of the two is true
#include <assert.h>
#include <stdio.h>
int main(void)
{
    int n = 0;
    while (n < 4 && getchar() != EOF)
        n++;
    assert(n == 4 || feof(stdin) || ferror(stdin));
    return 0;
}
