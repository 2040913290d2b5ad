// world: breaks
// property: assertion
// native: wrap fclose
// assumption: io output
// why: what was buffered may not find room
#include <assert.h>
#include <stdio.h>
int main(void)
{
    assert(fclose(stdout) == 0);
    return 0;
}
