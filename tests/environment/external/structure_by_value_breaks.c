// world: breaks
// property: assertion
// native: ext
// why: a copy of a structure holds the same pointer
#include <assert.h>
struct view {
    int *data;
    unsigned count;
};
void scale(struct view v);
int main(void)
{
    int data[3] = {1, 2, 3};
    struct view v = {data, 3};
    scale(v);
    assert(data[2] == 3);
    return 0;
}
