#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "argon2.h"
#include "../src/encoding.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[512];
    static uint8_t salt[64], out[64];
    argon2_context context;

    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    memset(&context, 0, sizeof context);
    context.salt = salt;
    context.saltlen = sizeof salt;
    context.out = out;
    context.outlen = sizeof out;
    decode_string(&context, text, Argon2_id);
    return 0;
}
