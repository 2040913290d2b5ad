/* A tank is drained by more than one step takes; a level below nothing is a very high level. */
unsigned short __VERIFIER_nondet_ushort(void);
void reach_error(void);

int main(void) {
    unsigned short level = __VERIFIER_nondet_ushort();
    unsigned turns = 0;
    if (level > 30000)
        return 1;
#ifdef FIXED
    while (level >= 3) {
#else
    while (level != 0) {
#endif
        level -= 3;
        turns++;
    }
    if (turns > 30000)
        reach_error();
    return 0;
}
