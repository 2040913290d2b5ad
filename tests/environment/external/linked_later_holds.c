// world: holds
// property: assertion
// native: ext
// why: the structure that got the pointer was never handed over
#include <assert.h>
struct box {
    int *value;
};
void give(struct box *b);
void step(void);
int main(void)
{
    int x;
    struct box b = {0}, own = {0};
    give(&b);
    own.value = &x;
    *own.value = 1;
    step();
    assert(x == 1);
    return 0;
}
