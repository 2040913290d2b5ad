// world: holds
// property: memory
// native: ext
// why: the range is checked
#include <stddef.h>
struct record {
    char name[48];
    int slot;
};
void load(void *into, size_t n);
static int slots[8];
int main(void)
{
    struct record r = {"", 0};
    load(&r, sizeof r);
    if (r.slot < 0 || r.slot > 7)
        return 1;
    return slots[r.slot];
}
