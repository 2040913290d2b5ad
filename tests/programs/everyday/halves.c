/* A range is halved until one element is left. Wrong: its end is looked at as if it were in the range. */
#include <stddef.h>
#include <stdint.h>

static int largest(const int *a, int low, int high) {
#ifdef FIXED
    if (high - low < 2) return a[low];
#else
    if (high - low < 2) return a[high];
#endif
    int middle = low + (high - low) / 2;
    int left = largest(a, low, middle), right = largest(a, middle, high);
    return left > right ? left : right;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int a[32], count = 0;
    for (size_t at = 0; at < size && count < 32; at++) a[count++] = data[at];
    if (count == 0) return 0;
    return largest(a, 0, count) == 7;
}
