#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "bzlib.h"

void bz_internal_error(int code)
{
    exit(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char to[4096];
    unsigned length = sizeof to;
    BZ2_bzBuffToBuffDecompress(to, &length, (char *)data, (unsigned)size, 0, 0);
    return 0;
}
