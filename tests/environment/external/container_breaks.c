// world: breaks
// property: assertion
// native: ext
// why: the address of a member leads to the structure around it, by offsetof
#include <assert.h>
struct device {
    int locked;
    int link;
};
void enlist(int *link);
int main(void)
{
    struct device d = {1, 0};
    enlist(&d.link);
    assert(d.locked);
    return 0;
}
