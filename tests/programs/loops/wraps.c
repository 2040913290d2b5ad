/* A count of sixteen bits beside one of thirty-two. */
void reach_error(void);
unsigned __VERIFIER_nondet_uint(void);

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
#ifdef FIXED
    if (n > 65535)
        return 1;
#else
    if (n > 1000000)
        return 1;
#endif
    unsigned short packets = 0;
    for (unsigned i = 0; i < n; i++)
        packets++;
    if (packets != n)
        reach_error();
    return 0;
}
