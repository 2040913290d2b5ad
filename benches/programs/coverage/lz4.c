#include <stdint.h>

#include "lz4frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char out[1 << 16];
    LZ4F_dctx *context;

    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return 0;
    for (int i = 0; i < 16 && size > 0; i++) {
        size_t taken = size, given = sizeof out;
        size_t result = LZ4F_decompress(context, out, &given, data, &taken, NULL);
        if (LZ4F_isError(result) || (taken == 0 && given == 0))
            break;
        data += taken, size -= taken;
    }
    LZ4F_freeDecompressionContext(context);
    return 0;
}
