// world: breaks
// property: memory
// native: ext
// why: a void pointer leads to the whole structure, to its last member too
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
    return slots[r.slot];
}
