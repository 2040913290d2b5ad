#include <stddef.h>
#include <stdint.h>

#include "lz4.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char to[4096];
    /* The size is an int to the library. */
    if (size > 1 << 20)
        return 0;
    LZ4_decompress_safe((const char *)data, to, (int)size, sizeof to);
    return 0;
}
