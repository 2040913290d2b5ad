// world: breaks
// property: assertion
// native: ext
// why: a pointer that lies in the structure is followed
#include <assert.h>
struct box {
    int size;
    int *value;
};
void fill(struct box *b);
int main(void)
{
    int v = 0;
    struct box b = {1, &v};
    fill(&b);
    assert(v == 0);
    return 0;
}
