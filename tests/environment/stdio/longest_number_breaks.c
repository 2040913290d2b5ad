// world: breaks
// property: memory
// native: ext
// why: the least int has eleven characters, and a terminator
#include <stdio.h>
int number(void);
int main(void)
{
    char text[11];
    sprintf(text, "%d", number());
    return text[0];
}
