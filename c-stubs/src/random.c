/* Random numbers are choices: the program may not count on any sequence, but on the same one after the same seed. */
#include "stub.h"

/* What was drawn since the present seed, as far as it is kept; nothing is before the first srand(). */
#define KEPT 64
static struct {
    int seeded;
    unsigned seed, count, next;
    unsigned values[KEPT];
} sequence;

static unsigned draw(void) {
    if (sequence.seeded && sequence.next < sequence.count) return sequence.values[sequence.next++];
    unsigned value = crunner_choose_u32("rand");
    if (sequence.seeded && sequence.count < KEPT && sequence.next == sequence.count) {
        sequence.values[sequence.count++] = value;
        sequence.next = sequence.count;
    }
    return value;
}

static void seed(unsigned value) {
    if (!sequence.seeded || sequence.seed != value) sequence.count = 0;
    sequence.seeded = 1;
    sequence.seed = value;
    sequence.next = 0;
}

STUB int CRUNNER_rand(void) { return (int)(draw() & 0x7fffffff); }
STUB int CRUNNER_rand_r(unsigned *seed) {
    *seed += 1;
    return (int)(crunner_choose_u32("rand") & 0x7fffffff);
}
STUB void CRUNNER_srand(unsigned value) { seed(value); }
STUB long CRUNNER_random(void) { return CRUNNER_rand(); }
STUB void CRUNNER_srandom(unsigned value) { seed(value); }
STUB char *CRUNNER_initstate(unsigned value, char *state, size_t n) {
    static char first[8];
    if (n < 8) {
        stub_errno = STUB_EINVAL;
        return 0;
    }
    seed(value);
    return first;
}
STUB char *CRUNNER_setstate(char *state) { return state; }

static double fraction(unsigned value) { return value / 4294967296.0; }
STUB double CRUNNER_drand48(void) { return fraction(crunner_choose_u32("drand48")); }
STUB double CRUNNER_erand48(unsigned short state[3]) {
    state[0]++;
    return CRUNNER_drand48();
}
STUB long CRUNNER_lrand48(void) { return (long)(crunner_choose_u32("rand") & 0x7fffffff); }
STUB long CRUNNER_nrand48(unsigned short state[3]) {
    state[0]++;
    return CRUNNER_lrand48();
}
STUB long CRUNNER_mrand48(void) { return (int)crunner_choose_u32("rand"); }
STUB long CRUNNER_jrand48(unsigned short state[3]) {
    state[0]++;
    return CRUNNER_mrand48();
}
STUB void CRUNNER_srand48(long value) {}
STUB unsigned CRUNNER_arc4random(void) { return crunner_choose_u32("rand"); }
STUB unsigned CRUNNER_arc4random_uniform(unsigned bound) {
    return bound < 2 ? 0 : crunner_choose_u32("rand") % bound;
}
STUB void CRUNNER_arc4random_buf(void *into, size_t n) { crunner_choose("rand", into, n); }
STUB long CRUNNER_getrandom(void *into, size_t n, unsigned flags) {
    /* Up to 256 bytes are never cut short, once there is any randomness. */
    int fault = crunner_fault("getrandom", (n > 256 ? MAY_BE_SHORT : 0) | E(EAGAIN) | E(EINTR) | E(ENOSYS), 0);
    if (fault > 0) return -1;
    size_t some = fault == FAULT_SHORT ? 256 + crunner_choose_u32("getrandom") % (n - 256) : n;
    crunner_choose("rand", into, some);
    return (long)some;
}
STUB int CRUNNER_getentropy(void *into, size_t n) {
    if (n > 256) {
        stub_errno = STUB_EIO;
        return -1;
    }
    if (crunner_fault("getentropy", E(EIO) | E(ENOSYS), 0)) return -1;
    crunner_choose("rand", into, n);
    return 0;
}
