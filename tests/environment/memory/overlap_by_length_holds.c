// world: holds
// property: memory
// native: ext
// why: at most as many as lie between
#include <string.h>
unsigned count(void);
static char text[16];
int main(void)
{
    unsigned n = count();
    if (n > 6)
        return 0;
    memcpy(text + 6, text, n);
    return text[6];
}
