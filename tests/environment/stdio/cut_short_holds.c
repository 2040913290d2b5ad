// world: holds
// property: memory
// native: ext
// why: limited
#include <stdio.h>
int number(void);
int main(void)
{
    char text[4];
    int n = snprintf(text, sizeof text, "%d", number());
    if (n < 0 || n >= (int)sizeof text)
        return 1;
    text[n] = 0;
    return text[0];
}
