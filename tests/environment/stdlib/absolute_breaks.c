// world: breaks
// property: assertion
// native: ext
// why: abs of the least int is negative here
#include <assert.h>
#include <stdlib.h>
int offset(void);
int main(void)
{
    assert(abs(offset()) >= 0);
    return 0;
}
