/* A table of records is looked through; the last one is there to end the search, and has no name of its own. */
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

#ifndef N
#define N 1000
#endif

struct record {
    unsigned key;
    unsigned short flags;
    unsigned value;
};

static struct record table[N];

int main(void) {
    unsigned key = __VERIFIER_nondet_uint(), n = __VERIFIER_nondet_uint();
    if (n > N)
        return 1;
    for (unsigned i = 0; i < n; i++) {
        table[i].key = i;
        table[i].value = 2 * i;
    }
    unsigned i = 0;
#ifdef FIXED
    while (i < n && table[i].key != key)
        i++;
    return i < n ? (int)table[i].value : -1;
#else
    while (i <= n && table[i].key != key)
        i++;
    return i <= n ? (int)table[i].value : -1;
#endif
}
