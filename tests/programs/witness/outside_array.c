/* A write past an array's end. */
extern int __VERIFIER_nondet_int(void);

int main(void)
{
    int table[8] = {0};
    int at = __VERIFIER_nondet_int();
    if (at < 0 || at > 8)
        return 0;
    table[at] = 1; /* here */
    return table[0];
}
