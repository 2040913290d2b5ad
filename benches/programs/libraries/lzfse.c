#include <stddef.h>
#include <stdint.h>

#include "lzfse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t to[4096];
    lzfse_decode_buffer(to, sizeof to, data, size, NULL);
    return 0;
}
