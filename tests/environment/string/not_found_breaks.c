// world: breaks
// property: memory
// native: ext
// why: the character need not be there
#include <string.h>
void title(char *into, size_t n);
int main(void)
{
    char text[8] = "";
    title(text, sizeof text);
    text[7] = 0;
    return strchr(text, ':')[1];
}
