// world: breaks
// property: assertion
// native: ext
// why: const covers the structure, not what its pointer leads to
#include <assert.h>
struct box {
    int *value;
};
void show(const struct box *b);
int main(void)
{
    int v = 0;
    const struct box b = {&v};
    show(&b);
    assert(v == 0);
    return 0;
}
