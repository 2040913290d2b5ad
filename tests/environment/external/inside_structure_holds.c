// world: holds
// property: assertion
// native: ext
// why: the structure holds NULL when it is handed over
#include <assert.h>
struct box {
    int size;
    int *value;
};
void fill(struct box *b);
int main(void)
{
    int v = 0;
    struct box b = {1, 0};
    fill(&b);
    b.value = &v;
    assert(v == 0);
    return b.size & 1;
}
