/* Checksums over the rest of the input, as bytes and as whole numbers, with a second buffer of a
 * chosen size. The wrong one sums one byte too many. */
#include <crunner.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef FIXED
#define MORE 0
#else
#define MORE 1
#endif

static unsigned bytes(const uint8_t *data, size_t size) {
    unsigned sum = 0;
    for (size_t i = 0; i < size + MORE; i++) sum += data[i];
    return sum;
}

static unsigned numbers(const uint16_t *data, size_t count, const uint8_t *salt, size_t salted) {
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++) sum += data[i] ^ (salted ? salt[i % salted] : 0);
    return sum;
}

int main(void) {
    size_t salted = crunner_range(0, 240);
    uint8_t *salt = malloc(salted);
    crunner_get_bytes(salt, salted);
    unsigned sum;
    if (crunner_get_bool()) {
        size_t size;
        uint8_t *data = crunner_get_rest(&size);
        sum = bytes(data, size);
        free(data);
    } else {
        size_t count;
        uint16_t *data = crunner_get_elements(sizeof *data, &count);
        sum = numbers(data, count, salt, salted);
        free(data);
    }
    free(salt);
    return (int)(sum & 1);
}
