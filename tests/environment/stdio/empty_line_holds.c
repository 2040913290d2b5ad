// world: holds
// property: memory
// native: ext
// why: only where something precedes
#include <stdio.h>
#include <string.h>
int main(void)
{
    char text[8];
    size_t n;
    if (!fgets(text, sizeof text, stdin))
        return 1;
    n = strlen(text);
    if (n > 0)
        text[n - 1] = 0;
    return text[0];
}
