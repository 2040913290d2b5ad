// world: breaks
// property: memory
// native: alone
// options: --faults none
// assumption: io
// why: with faults switched off this is an assumption
#include <stdio.h>
int main(void)
{
    FILE *f = fopen("/nowhere/to/be/found", "w");
    return fputc('a', f);
}
