#include <stddef.h>
#include <stdint.h>

size_t tinfl_decompress_mem_to_mem(void *to, size_t capacity, const void *from, size_t size, int flags);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char to[4096];
    tinfl_decompress_mem_to_mem(to, sizeof to, data, size, 1);
    return 0;
}
