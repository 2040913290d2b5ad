/* What calls the harnesses when Frama-C's Eva is asked: any bytes, in a block of exactly their size. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "__fc_builtin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(void)
{
    size_t size = Frama_C_size_t_interval(0, 1 << 20);
    uint8_t *data = calloc(size, 1);

    if (!data)
        return 0;
    for (size_t i = 0; i < size; i++)
        data[i] = Frama_C_unsigned_char_interval(0, 255);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}
