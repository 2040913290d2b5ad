// world: breaks
// property: assertion
// native: wrap isatty
// assumption: devices
// why: the input may be a terminal, or not
#include <assert.h>
#include <unistd.h>
int main(void)
{
    assert(!isatty(0));
    return 0;
}
