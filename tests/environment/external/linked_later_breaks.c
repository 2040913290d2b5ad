// world: breaks
// property: assertion
// native: ext
// why: what is put into a structure that was handed over comes within reach
#include <assert.h>
struct box {
    int *value;
};
void give(struct box *b);
void step(void);
int main(void)
{
    int x;
    struct box b = {0};
    give(&b);
    b.value = &x;
    x = 1;
    step();
    assert(x == 1);
    return 0;
}
