// world: holds
// property: assertion
// native: ext
// why: both the structure and the number are const objects
#include <assert.h>
struct look {
    const int *value;
};
void read_only(const struct look *b);
int main(void)
{
    static const int v = 0;
    const struct look b = {&v};
    read_only(&b);
    assert(*b.value == 0);
    return 0;
}
