// world: breaks
// property: memory
// native: alone
// why: strcpy may not be given overlapping strings
#include <string.h>
int main(void)
{
    char text[16] = "  indented";
    strcpy(text, text + 2);
    return text[0];
}
