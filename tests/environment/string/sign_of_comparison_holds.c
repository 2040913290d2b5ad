// world: holds
// property: assertion
// native: wrap strcmp
// why: the sign
#include <assert.h>
#include <string.h>
int main(void)
{
    char a[2] = "b", b[2] = "a";
    assert(strcmp(a, b) > 0);
    return 0;
}
