// world: holds
// property: assertion
// native: ext
// why: the table holds the addresses of const objects
#include <assert.h>
static const int a = 0, b = 1;
const int *const lookup[2] = {&a, &b};
void step(void);
int main(void)
{
    step();
    assert(*lookup[1] == 1);
    return a;
}
