// world: breaks
// property: memory
// native: alone
// assumption: io
// why: a file may not be there
#include <stdio.h>
int main(void)
{
    FILE *f = fopen("/nowhere/to/be/found", "r");
    return fgetc(f);
}
