/* Pieces of a message are copied out, each as long as the room, the message and its own length allow: the length of each step is the least of
 * three, and two of them are distances to an end. The fault: the room is taken for one byte longer. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef MORE
#define MORE 0
#endif

#define LEAST(a, b) ((a) < (b) ? (a) : (b))

static int unpack(const uint8_t *from, size_t *size, uint8_t *to, size_t *room)
{
    const uint8_t *next = from, *const end = from + *size;
    uint8_t *put = to, *const full = to + *room + MORE;
    for (;;) {
        unsigned left;
        if (next >= end)
            return 0;
        left = *next++;
        while (left) {
            size_t step;
            if (put >= full || next >= end)
                return -1;
            step = LEAST(LEAST((size_t)(full - put), (size_t)(end - next)), left);
            memcpy(put, next, step);
            next += step;
            put += step;
            left -= (unsigned)step;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t to[64];
    size_t room = sizeof to;
    return unpack(data, &size, to, &room) == 7;
}
