// world: breaks
// property: memory
// native: alone
// why: memcpy may not be given overlapping memory
#include <string.h>
int main(void)
{
    char text[8] = "abcdefg";
    memcpy(text + 1, text, 4);
    return text[4];
}
