/* Two sorted runs are merged. Wrong: the room is one element short. */
#include <stddef.h>
#include <stdint.h>

enum { RUN = 16 };

static void merge(const int *a, int n, const int *b, int m, int *out) {
    int i = 0, j = 0, k = 0;
    while (i < n && j < m) out[k++] = a[i] <= b[j] ? a[i++] : b[j++];
    while (i < n) out[k++] = a[i++];
    while (j < m) out[k++] = b[j++];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int a[RUN], b[RUN], x = 0, y = 0;
#ifdef FIXED
    int out[2 * RUN];
#else
    int out[2 * RUN - 1];
#endif
    for (size_t at = 0; at < size; at++) {
        if (data[at] & 1) {
            if (x < RUN) a[x++] = data[at];
        } else if (y < RUN) {
            b[y++] = data[at];
        }
    }
    merge(a, x, b, y, out);
    return 0;
}
