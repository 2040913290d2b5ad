// world: breaks
// property: assertion
// native: wrap write
// options: --faults none
// assumption: io
// why: with faults switched off this is an assumption
#include <assert.h>
#include <unistd.h>
int main(void)
{
    assert(write(1, "abc", 3) > 0);
    return 0;
}
