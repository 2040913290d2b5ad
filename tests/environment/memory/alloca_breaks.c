// world: breaks
// property: memory
// native: ext
// assumption: stack
// why: alloca does not say that there is no room
#include <alloca.h>
#include <string.h>
unsigned length(void);
int main(void)
{
    unsigned n = length();
    char *a = alloca(n + 1ul);
    a[n] = 0;
    a[0] = 0;
    return (int)strlen(a);
}
