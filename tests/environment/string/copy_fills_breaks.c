// world: breaks
// property: memory
// native: ext
// why: strncpy leaves no terminator where the text is as long as the room
#include <string.h>
void title(char *into, size_t n);
int main(void)
{
    char text[8] = "", copy[4];
    title(text, sizeof text);
    text[7] = 0;
    strncpy(copy, text, sizeof copy);
    return (int)strlen(copy);
}
