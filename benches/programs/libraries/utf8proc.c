#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

ptrdiff_t utf8proc_map(const uint8_t *from, ptrdiff_t size, uint8_t **to, int options);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *to = NULL;
    /* Option 1 says that the text ends with NUL, and this text does not. */
    if (size > 0 && utf8proc_map(data + 1, (ptrdiff_t)size - 1, &to, data[0] & ~1) >= 0)
        free(to);
    return 0;
}
