// world: breaks
// property: assertion
// native: wrap bsearch
// assumption: sorting
// why: which of several equal elements is found is not specified
#include <assert.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
    static const int all[3] = {4, 4, 4};
    int key = 4;
    const int *found = bsearch(&key, all, 3, sizeof all[0], compare);
    assert(found == &all[1]);
    return 0;
}
