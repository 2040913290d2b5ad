// world: breaks
// property: memory
// native: ext
// why: -1 is the largest length that there is
#include <string.h>
int count(void);
static char from[16], to[16];
int main(void)
{
    int n = count();
    if (n > 16)
        return 0;
    memcpy(to, from, n);
    return to[0];
}
