// world: breaks
// property: memory
// native: ext
// why: small letters are letters
#include <ctype.h>
unsigned char key(void);
static int counts[26];
int main(void)
{
    unsigned char c = key();
    return isalpha(c) ? counts[c - 'A'] : 0;
}
