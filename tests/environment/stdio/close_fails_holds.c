// world: holds
// property: assertion
// native: wrap fclose
// why: these are its answers
#include <assert.h>
#include <stdio.h>
int main(void)
{
    int r = fclose(stdout);
    assert(r == 0 || r == EOF);
    return 0;
}
