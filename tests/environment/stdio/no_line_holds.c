// world: holds
// property: memory
// native: alone
// why: asked
#include <stdio.h>
#include <string.h>
int main(void)
{
    char line[8];
    memset(line, 'x', sizeof line);
    if (!fgets(line, sizeof line, stdin))
        return 1;
    return (int)strlen(line);
}
