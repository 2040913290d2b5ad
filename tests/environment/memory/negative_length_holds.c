// world: holds
// property: memory
// native: ext
// why: negative ones are left out
#include <string.h>
int count(void);
static char from[16], to[16];
int main(void)
{
    int n = count();
    if (n > 16 || n < 0)
        return 0;
    memcpy(to, from, n);
    return to[0];
}
