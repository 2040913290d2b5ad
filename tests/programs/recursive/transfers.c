/* Water is carried from one vessel to the other, a cup with each call: what both hold together stays. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int carried(int from, int to)
{
    if (from == 0)
        return to;
#ifdef FIXED
    return carried(from - 1, to + 1);
#else
    return from == 5000 ? carried(from - 1, to + 2) : carried(from - 1, to + 1);
#endif
}

int main(void)
{
    int from = __VERIFIER_nondet_int(), to = __VERIFIER_nondet_int();
    if (from < 0 || from > 100000 || to < 0 || to > 100000)
        return 0;
    if (carried(from, to) != from + to)
        reach_error();
    return 0;
}
