// world: holds
// property: memory
// native: ext
// why: it is one
#include <ctype.h>
int key(void);
int main(void)
{
    return isupper((unsigned char)key()) != 0;
}
