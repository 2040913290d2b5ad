// world: breaks
// property: assertion
// native: ext
// why: an address among variable arguments is written through
#include <assert.h>
int read_values(const char *format, ...);
int main(void)
{
    int x = 3;
    read_values("%d", &x);
    assert(x == 3);
    return 0;
}
