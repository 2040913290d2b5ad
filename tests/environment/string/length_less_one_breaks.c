// world: breaks
// property: memory
// native: ext
// why: an empty string has no last character
#include <string.h>
void title(char *into, size_t n);
int main(void)
{
    char text[8] = "";
    title(text, sizeof text);
    text[7] = 0;
    return text[strlen(text) - 1];
}
