// world: holds
// property: assertion
// native: ext
// why: values alone are handed over
#include <assert.h>
int show_values(const char *format, ...);
int main(void)
{
    int x = 3;
    show_values("%d", x);
    assert(x == 3);
    return 0;
}
