// world: breaks
// property: assertion
// native: none (the linker shares tails; the compiler knows better here)
// assumption: addresses
// why: a literal may be the end of another one, or its own copy at each use
#include <assert.h>
static const char *name(void) { return "level"; }
int main(void)
{
    const char *long_one = "sea level", *p = name();
    assert(p != long_one + 4);
    return 0;
}
