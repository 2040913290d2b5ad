// world: holds
// property: memory
// native: alone
// why: asked
#include <stdio.h>
int main(void)
{
    FILE *f = fopen("/nowhere/to/be/found", "w");
    if (!f)
        return 1;
    fputc('a', f);
    return fclose(f) == 0;
}
