#include <stdint.h>
#include <string.h>

#include "zlib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char out[1 << 15];
    z_stream stream;

    memset(&stream, 0, sizeof stream);
    /* zlib or gzip, as the header says. */
    if (inflateInit2(&stream, 15 + 32) != Z_OK)
        return 0;
    stream.next_in = (Bytef *)data;
    stream.avail_in = size;
    for (int i = 0; i < 16; i++) {
        stream.next_out = out;
        stream.avail_out = sizeof out;
        if (inflate(&stream, Z_NO_FLUSH) != Z_OK)
            break;
    }
    inflateEnd(&stream);
    return 0;
}
