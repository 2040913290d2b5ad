/* Random numbers. Each number of a generator that the program seeds is a choice. The program may
 * not rely on a particular sequence, but it gets the same sequence after the same seed; before the
 * first seed, it gets the sequence of the initial seed that the standard defines. A generator whose
 * whole state the caller holds (rand_r, erand48) is computed as on the platform, so that equal
 * states give equal results. */
#include "stub.h"

/* The first numbers that were drawn since the current seed. */
#define KEPT 64
struct sequence {
    unsigned long seed;
    unsigned count, next;
    unsigned values[KEPT];
};
/* rand() and random() share one generator, whose initial state is that of srand(1); the 48-bit
 * generators share another one. */
static struct sequence plain = {.seed = 1}, wide;

static unsigned draw(struct sequence *of, const char *channel) {
    if (of->next < of->count) return of->values[of->next++];
    unsigned value = crunner_choose_u32(channel);
    if (of->count < KEPT && of->next == of->count) {
        of->values[of->count++] = value;
        of->next = of->count;
    }
    return value;
}

static void seed(struct sequence *of, unsigned long value) {
    if (of->seed != value) of->count = 0;
    of->seed = value;
    of->next = 0;
}

STUB int CRUNNER_rand(void) { return (int)(draw(&plain, "rand") & 0x7fffffff); }
STUB void CRUNNER_srand(unsigned value) { seed(&plain, value); }
STUB long CRUNNER_random(void) { return CRUNNER_rand(); }
STUB void CRUNNER_srandom(unsigned value) { seed(&plain, value); }
/* glibc's algorithm: three steps of a linear congruential generator give 11, 10 and 10 bits. */
STUB int CRUNNER_rand_r(unsigned *state) {
    unsigned next = *state, result = 0;
    static const unsigned char bits[3] = {11, 10, 10};
    for (int i = 0; i < 3; i++) {
        next = next * 1103515245u + 12345u;
        result = result << bits[i] | (next >> 16 & ((1u << bits[i]) - 1));
    }
    *state = next;
    return (int)result;
}

static double fraction(unsigned value) { return value / 4294967296.0; }
STUB double CRUNNER_drand48(void) { return fraction(draw(&wide, "drand48")); }
STUB long CRUNNER_lrand48(void) { return (long)(draw(&wide, "drand48") & 0x7fffffff); }
STUB long CRUNNER_mrand48(void) { return (int)draw(&wide, "drand48"); }
/* No seed of the program equals that of the initial state. */
STUB void CRUNNER_srand48(long value) { seed(&wide, (unsigned long)(unsigned)value | 1ul << 32); }

/* POSIX's linear congruential generator on 48 bits. Its constants never change, since there is no
 * lcong48() here. */
static unsigned long long step48(unsigned short state[3]) {
    unsigned long long x = state[0] | (unsigned long long)state[1] << 16
                           | (unsigned long long)state[2] << 32;
    x = (x * 0x5deece66dull + 0xb) & 0xffffffffffffull;
    state[0] = (unsigned short)x;
    state[1] = (unsigned short)(x >> 16);
    state[2] = (unsigned short)(x >> 32);
    return x;
}
STUB double CRUNNER_erand48(unsigned short state[3]) {
    return (double)step48(state) / 281474976710656.0;
}
STUB long CRUNNER_nrand48(unsigned short state[3]) { return (long)(step48(state) >> 17); }
STUB long CRUNNER_jrand48(unsigned short state[3]) { return (int)(step48(state) >> 16); }

STUB unsigned CRUNNER_arc4random(void) { return crunner_choose_u32("rand"); }
STUB unsigned CRUNNER_arc4random_uniform(unsigned bound) {
    return bound < 2 ? 0 : crunner_choose_u32("rand") % bound;
}
STUB void CRUNNER_arc4random_buf(void *into, size_t n) { crunner_choose("rand", into, n); }
STUB long CRUNNER_getrandom(void *into, size_t n, unsigned flags) {
    /* Requests of up to 256 bytes are never shortened once the generator is initialised. */
    int fault = crunner_fault("getrandom",
                              (n > 256 ? MAY_BE_SHORT : 0) | E(EAGAIN) | E(EINTR) | E(ENOSYS), 0);
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
