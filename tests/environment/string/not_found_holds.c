// world: holds
// property: memory
// native: ext
// why: asked; behind it stands at least the terminator
#include <string.h>
void title(char *into, size_t n);
int main(void)
{
    char text[8] = "", *p;
    title(text, sizeof text);
    text[7] = 0;
    p = strchr(text, ':');
    return p ? p[1] : 0;
}
