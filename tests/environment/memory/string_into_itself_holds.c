// world: holds
// property: memory
// native: alone
// why: memmove with the terminator
#include <string.h>
int main(void)
{
    char text[16] = "  indented";
    memmove(text, text + 2, strlen(text + 2) + 1);
    return text[0];
}
