// world: holds
// property: assertion
// native: alone
// why: neither is ever NULL, and both end at the last component
#include <assert.h>
#include <libgen.h>
int main(void)
{
    char one[] = "/usr/lib/", two[] = "/usr/lib/";
    char *base = basename(one), *folder = dirname(two);
    assert(base[0] == 'l' && base[3] == 0);
    assert(folder == two && folder[3] == 'r' && folder[4] == 0);
    return 0;
}
