#include <stddef.h>
#include <stdint.h>

#include "lzf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char to[4096];
    if (size > 0)
        lzf_decompress(data, (unsigned)size, to, sizeof to);
    return 0;
}
