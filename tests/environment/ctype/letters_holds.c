// world: holds
// property: memory
// native: ext
// why: there are ten digits in every locale
#include <ctype.h>
unsigned char key(void);
static int counts[10];
int main(void)
{
    unsigned char c = key();
    return isdigit(c) ? counts[c - '0'] : 0;
}
