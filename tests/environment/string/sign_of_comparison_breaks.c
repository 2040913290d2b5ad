// world: breaks
// property: assertion
// native: wrap strcmp
// why: only the sign of strcmp's answer is specified
#include <assert.h>
#include <string.h>
int main(void)
{
    char a[2] = "b", b[2] = "a";
    assert(strcmp(a, b) == 1);
    return 0;
}
