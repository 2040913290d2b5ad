#include <stddef.h>
#include <stdint.h>

/* The library is the other file. */
#undef MINIMP3_IMPLEMENTATION
#include "minimp3.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static mp3dec_t decoder;
    static mp3d_sample_t samples[MINIMP3_MAX_SAMPLES_PER_FRAME];
    mp3dec_frame_info_t info;

    /* The size is an int to the library. */
    if (size > 1 << 20)
        return 0;
    mp3dec_init(&decoder);
    mp3dec_decode_frame(&decoder, data, (int)size, samples, &info);
    return 0;
}
