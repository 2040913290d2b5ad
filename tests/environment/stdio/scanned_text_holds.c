// world: holds
// property: assertion
// native: ext
// why: this text has
#include <assert.h>
#include <stdio.h>
int main(void)
{
    int w = 0, h = 0;
    assert(sscanf("12x5", "%dx%d", &w, &h) == 2 && w == 12 && h == 5);
    return 0;
}
