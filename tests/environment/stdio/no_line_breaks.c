// world: breaks
// property: memory
// native: alone
// why: at the end of the input fgets leaves the buffer as it was
#include <stdio.h>
#include <string.h>
int main(void)
{
    char line[8];
    memset(line, 'x', sizeof line);
    fgets(line, sizeof line, stdin);
    return (int)strlen(line);
}
