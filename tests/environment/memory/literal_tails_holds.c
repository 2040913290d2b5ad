// world: holds
// property: assertion
// native: alone
// why: what they hold is the same
#include <assert.h>
static const char *name(void) { return "level"; }
int main(void)
{
    const char *long_one = "sea level", *p = name();
    assert(p[0] == long_one[4]);
    return 0;
}
