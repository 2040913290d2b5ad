#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern unsigned char *stbi_load_from_memory(const unsigned char *, int, int *, int *, int *, int);
extern int stbi_info_from_memory(const unsigned char *, int, int *, int *, int *);
extern void stbi_image_free(void *);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int x, y, n;

    /* Large pictures take seconds, and the reader of PSD writes past its memory, which would end the other fuzzers. */
    if (size < 4 || size > 1 << 20 || !memcmp(data, "8BPS", 4) || !stbi_info_from_memory(data, (int)size, &x, &y, &n)
        || x > 512 || y > 512)
        return 0;
    stbi_image_free(stbi_load_from_memory(data, (int)size, &x, &y, &n, 4));
    return 0;
}
