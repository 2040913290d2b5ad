// world: holds
// property: memory
// native: ext
// why: asked
#include <string.h>
void title(char *into, size_t n);
int main(void)
{
    char text[8] = "";
    title(text, sizeof text);
    text[7] = 0;
    return text[0] ? text[strlen(text) - 1] : 0;
}
