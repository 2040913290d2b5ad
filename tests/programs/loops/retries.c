/* A device is asked until it answers, and the count of failures has a place in a table of delays. */
int __VERIFIER_nondet_int(void);

#ifndef N
#define N 10000
#endif

static int delay[N];

int main(void) {
    int failures = 0;
    while (__VERIFIER_nondet_int() < 0) {
#ifdef FIXED
        if (failures == N)
            break;
#endif
        delay[failures]++;
        failures++;
    }
    return failures;
}
