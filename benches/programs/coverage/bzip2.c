#include <stdint.h>
#include <string.h>
#include "bzlib.h"
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char out[1 << 16];
    bz_stream stream;
    memset(&stream, 0, sizeof stream);
    if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK)
        return 0;
    stream.next_in = (char *)data;
    stream.avail_in = size;
    for (int i = 0; i < 16; i++) {
        stream.next_out = out;
        stream.avail_out = sizeof out;
        if (BZ2_bzDecompress(&stream) != BZ_OK || (stream.avail_in == 0 && stream.avail_out > 0))
            break;
    }
    BZ2_bzDecompressEnd(&stream);
    return 0;
}
