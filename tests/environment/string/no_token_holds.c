// world: holds
// property: memory
// native: ext
// why: asked
#include <string.h>
void title(char *into, size_t n);
int main(void)
{
    char text[8] = "", *token;
    title(text, sizeof text);
    text[7] = 0;
    token = strtok(text, ",");
    return token ? token[0] : 0;
}
