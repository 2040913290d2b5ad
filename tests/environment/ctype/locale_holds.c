// world: holds
// property: assertion
// native: alone
// why: a program begins in the locale "C"
#include <assert.h>
#include <ctype.h>
int main(void)
{
    assert(!(isalpha)(0xE4));
    return 0;
}
