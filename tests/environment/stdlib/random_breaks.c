// world: breaks
// property: assertion
// native: wrap rand
// why: any number up to RAND_MAX
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    assert(rand() % 100 != 42);
    return 0;
}
