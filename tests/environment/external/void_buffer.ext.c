#include <string.h>
void load(void *into, size_t n)
{
    int slot = 1000;
    memset(into, 'a', n);
    memcpy((char *)into + 48, &slot, sizeof slot);
}
