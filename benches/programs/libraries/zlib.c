#include <stddef.h>
#include <stdint.h>

#include "zlib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char to[4096];
    unsigned long length = sizeof to;
    uncompress(to, &length, data, size);
    return 0;
}
