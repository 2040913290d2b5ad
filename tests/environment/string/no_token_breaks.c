// world: breaks
// property: memory
// native: ext
// why: a text of separators has no token
#include <string.h>
void title(char *into, size_t n);
int main(void)
{
    char text[8] = "";
    title(text, sizeof text);
    text[7] = 0;
    return strtok(text, ",")[0];
}
