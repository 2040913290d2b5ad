// world: holds
// property: memory
// native: alone
// why: memmove may
#include <string.h>
int main(void)
{
    char text[8] = "abcdefg";
    memmove(text + 1, text, 4);
    return text[4];
}
