/* Pointers that come from outside the program.
 *
 * In executable counterexamples for SeaHorn (section 5), such reads returned zeros, and drivers
 * were rewritten by hand. Here the memory that a pointer leads to is chosen from the tape, and an
 * object may be handed out again, so that lists can be cyclic and two calls can return the same
 * device. */
#include "stub.h"

#define REMEMBERED 32

static struct {
    void *object;
    size_t size;
} given[REMEMBERED];
static unsigned given_count;

static void *fresh(const char *channel, size_t size) {
    void *object = malloc(size);
    if (!object) return 0;
    crunner_choose(channel, object, size);
    if (given_count < REMEMBERED) {
        given[given_count].object = object;
        given[given_count++].size = size;
    }
    return object;
}

STUB void *crunner_mock_pointer(const char *channel, size_t pointee, int raw_allowed) {
    size_t size = pointee ? pointee : 64;
    unsigned char selector;
    unsigned same = 0;
    crunner_choose(channel, &selector, 1);
    if (selector % 3 == 0) return 0;
    if (selector % 3 == 1) return fresh(channel, size);
    if (raw_allowed) {
        void *address;
        crunner_choose(channel, &address, sizeof address);
        return address;
    }
    for (unsigned i = 0; i < given_count; i++) same += given[i].size == size;
    if (!same) return fresh(channel, size);
    unsigned wanted = selector / 3u % same;
    for (unsigned i = given_count; i-- > 0;)
        if (given[i].size == size && wanted-- == 0) return given[i].object;
    return 0;
}
