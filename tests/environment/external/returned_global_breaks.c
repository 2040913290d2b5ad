// world: breaks
// property: assertion
// native: ext
// assumption: external-results
// why: a global variable with external linkage may be what is returned
#include <assert.h>
int shared;
int *current(void);
int main(void)
{
    int *p = current();
    shared = 1;
    if (p)
        *p = 0;
    assert(shared == 1);
    return 0;
}
