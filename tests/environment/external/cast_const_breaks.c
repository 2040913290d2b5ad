// world: breaks
// property: assertion
// native: ext
// assumption: const
// why: the object is not const, so a callee that casts the qualifier away may write it
#include <assert.h>
void look(const int *p);
int main(void)
{
    int x = 0;
    look(&x);
    assert(x == 0);
    return 0;
}
