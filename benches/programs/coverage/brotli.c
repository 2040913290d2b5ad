#include <stdint.h>

#include "brotli/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t out[1 << 16];
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);

    if (!state)
        return 0;
    for (int i = 0; i < 16; i++) {
        uint8_t *next = out;
        size_t room = sizeof out;
        BrotliDecoderResult result = BrotliDecoderDecompressStream(state, &size, &data, &room, &next, NULL);
        if (result != BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT)
            break;
    }
    BrotliDecoderDestroyInstance(state);
    return 0;
}
