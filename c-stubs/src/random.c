/* Random numbers are choices, and a seed changes nothing: the program may not count on any sequence. */
#include "stub.h"

STUB int CRUNNER_rand(void) { return (int)(crunner_choose_u32("rand") & 0x7fffffff); }
STUB int CRUNNER_rand_r(unsigned *seed) {
    *seed += 1;
    return CRUNNER_rand();
}
STUB void CRUNNER_srand(unsigned seed) {}
STUB long CRUNNER_random(void) { return CRUNNER_rand(); }
STUB void CRUNNER_srandom(unsigned seed) {}
STUB char *CRUNNER_initstate(unsigned seed, char *state, size_t n) { return state; }
STUB char *CRUNNER_setstate(char *state) { return state; }
STUB double CRUNNER_drand48(void) { return crunner_choose_u32("drand48") / 4294967296.0; }
STUB double CRUNNER_erand48(unsigned short state[3]) { return CRUNNER_drand48(); }
STUB long CRUNNER_lrand48(void) { return CRUNNER_rand(); }
STUB long CRUNNER_nrand48(unsigned short state[3]) { return CRUNNER_rand(); }
STUB long CRUNNER_mrand48(void) { return (int)crunner_choose_u32("rand"); }
STUB long CRUNNER_jrand48(unsigned short state[3]) { return CRUNNER_mrand48(); }
STUB void CRUNNER_srand48(long seed) {}
STUB unsigned CRUNNER_arc4random(void) { return crunner_choose_u32("rand"); }
STUB unsigned CRUNNER_arc4random_uniform(unsigned bound) {
    return bound < 2 ? 0 : crunner_choose_u32("rand") % bound;
}
STUB void CRUNNER_arc4random_buf(void *into, size_t n) { crunner_choose("rand", into, n); }
STUB long CRUNNER_getrandom(void *into, size_t n, unsigned flags) {
    crunner_choose("rand", into, n);
    return (long)n;
}
STUB int CRUNNER_getentropy(void *into, size_t n) {
    if (n > 256) return -1;
    crunner_choose("rand", into, n);
    return 0;
}
