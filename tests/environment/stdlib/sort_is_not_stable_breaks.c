// world: breaks
// property: assertion
// native: wrap qsort
// assumption: sorting
// why: the order of equal elements is not specified
#include <assert.h>
#include <stdlib.h>
struct item {
    int key, place;
};
static int by_key(const void *a, const void *b)
{
    return ((const struct item *)a)->key - ((const struct item *)b)->key;
}
int main(void)
{
    struct item all[2] = {{1, 0}, {1, 1}};
    qsort(all, 2, sizeof all[0], by_key);
    assert(all[0].place == 0);
    return 0;
}
