// world: holds
// property: assertion
// native: wrap qsort
// why: no two keys are equal
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
    struct item all[2] = {{2, 0}, {1, 1}};
    qsort(all, 2, sizeof all[0], by_key);
    assert(all[0].place == 1);
    return 0;
}
