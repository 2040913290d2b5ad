#include <stddef.h>
void frame(unsigned char *out, size_t n) { out[n - 1] = 0xFF; }
