/* A window is mapped, and its address is rounded down to a page before it is used. */
#include <assert.h>
#include <stdint.h>

void *window_map(void);

int main(void)
{
    uintptr_t address = (uintptr_t)window_map();
    volatile uint32_t *window;
    uint32_t value;

    if (!address)
        return 0;
    window = (uint32_t *)(address & ~(uintptr_t)7);
    value = window[1];
#ifdef FIXED
    if (value == 17)
        return 0;
#endif
    assert(value != 17); /* here */
    return 0;
}
