// world: breaks
// property: assertion
// native: alone
// why: the slash before the last component goes, too
#include <assert.h>
#include <libgen.h>
int main(void)
{
    char one[] = "/usr/lib/", two[] = "/usr/lib/";
    char *base = basename(one), *folder = dirname(two);
    assert(base[0] == 'l' && base[3] == 0);
    assert(folder == two && folder[3] == 'r' && folder[4] != 0);
    return 0;
}
