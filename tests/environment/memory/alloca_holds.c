// world: holds
// property: memory
// native: ext
// why: at most 256 bytes
#include <alloca.h>
#include <string.h>
unsigned length(void);
int main(void)
{
    unsigned n = length() & 255;
    char *a = alloca(n + 1ul);
    a[n] = 0;
    a[0] = 0;
    return (int)strlen(a);
}
