// world: holds
// property: assertion
// native: alone
// why: within one structure the order is that of the members
#include <assert.h>
#include <stdint.h>
static struct {
    int early, late;
} s;
int main(void)
{
    assert((uintptr_t)&s.early < (uintptr_t)&s.late);
    return 0;
}
