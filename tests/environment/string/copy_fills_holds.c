// world: holds
// property: memory
// native: ext
// why: one less, and a terminator
#include <string.h>
void title(char *into, size_t n);
int main(void)
{
    char text[8] = "", copy[4];
    title(text, sizeof text);
    text[7] = 0;
    strncpy(copy, text, sizeof copy - 1);
    copy[sizeof copy - 1] = 0;
    return (int)strlen(copy);
}
