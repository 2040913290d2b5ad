// world: holds
// property: assertion
// native: ext
// why: an unsigned char has no other values than these
#include <assert.h>
extern unsigned char small_limit;
int main(void)
{
    assert(small_limit < 256);
    return 0;
}
