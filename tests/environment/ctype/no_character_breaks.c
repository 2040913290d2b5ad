// world: breaks
// property: memory
// native: ext
// why: the argument has to be an unsigned char or EOF
#include <ctype.h>
int key(void);
int main(void)
{
    return isupper(key()) != 0;
}
