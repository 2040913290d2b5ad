/* Reads the index of an arbitrary file. */
#include "tabfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tab_index index;

    tab_read(data, size, &index);
    return 0;
}
