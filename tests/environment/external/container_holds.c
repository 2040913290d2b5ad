// world: holds
// property: assertion
// native: ext
// why: only a copy of the member is handed over
#include <assert.h>
struct device {
    int locked;
    int link;
};
struct pair {
    int before;
    int link;
};
void enlist(int *link);
int main(void)
{
    struct device d = {1, 0};
    struct pair copy = {0, d.link};
    enlist(&copy.link);
    d.link = copy.link;
    assert(d.locked);
    return 0;
}
