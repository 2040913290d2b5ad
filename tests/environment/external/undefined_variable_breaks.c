// world: breaks
// property: assertion
// native: ext
// why: a variable that another file defines has any value
#include <assert.h>
extern int limit;
int main(void)
{
    assert(limit == 0);
    return 0;
}
