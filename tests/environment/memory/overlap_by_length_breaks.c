// world: breaks
// property: memory
// native: ext
// why: with enough bytes the halves overlap
#include <string.h>
unsigned count(void);
static char text[16];
int main(void)
{
    unsigned n = count();
    if (n > 8)
        return 0;
    memcpy(text + 6, text, n);
    return text[6];
}
