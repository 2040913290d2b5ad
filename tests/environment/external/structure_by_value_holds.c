// world: holds
// property: assertion
// native: ext
// why: the copy holds numbers alone
#include <assert.h>
struct triple {
    int data[3];
};
void scale_copy(struct triple t);
int main(void)
{
    struct triple t = {{1, 2, 3}};
    scale_copy(t);
    assert(t.data[2] == 3);
    return 0;
}
