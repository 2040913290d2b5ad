// world: holds
// property: memory
// native: alone
// why: asked
#include <stdio.h>
int main(void)
{
    FILE *f = fopen("/nowhere/to/be/found", "r");
    int c;
    if (!f)
        return 1;
    c = fgetc(f);
    fclose(f);
    return c;
}
