// world: holds
// property: memory
// native: ext
// why: room for twelve
#include <stdio.h>
int number(void);
int main(void)
{
    char text[12];
    sprintf(text, "%d", number());
    return text[0];
}
