/* A size doubles until it fits. */
void reach_error(void);
unsigned __VERIFIER_nondet_uint(void);

int main(void) {
    unsigned want = __VERIFIER_nondet_uint();
#ifdef FIXED
    if (want > 0x80000000u)
        return 1;
#endif
    unsigned room = 16;
    while (room < want) {
        room *= 2;
        if (room == 0)
            reach_error();
    }
    return 0;
}
