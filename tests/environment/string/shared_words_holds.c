// world: holds
// property: memory
// native: alone
// why: the first character is copied before the later call
#include <string.h>
int main(void)
{
    const char *a = strerror(9001), *b;
    char first = a[0];
    b = strerror(9002);
    return first == b[0];
}
