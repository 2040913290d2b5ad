// world: breaks
// property: assertion
// native: alone
// assumption: addresses
// why: equal literals may be one array
#include <assert.h>
int main(void)
{
    const char *a = "same", *b = "same";
    assert(a != b);
    return 0;
}
