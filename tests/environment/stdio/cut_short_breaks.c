// world: breaks
// property: memory
// native: ext
// why: snprintf answers how much it would have written
#include <stdio.h>
int number(void);
int main(void)
{
    char text[4];
    int n = snprintf(text, sizeof text, "%d", number());
    text[n] = 0;
    return text[0];
}
