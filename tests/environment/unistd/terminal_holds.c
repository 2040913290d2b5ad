// world: holds
// property: assertion
// native: wrap isatty
// why: 1 or 0
#include <assert.h>
#include <unistd.h>
int main(void)
{
    int tty = isatty(0);
    assert(tty == 0 || tty == 1);
    return 0;
}
