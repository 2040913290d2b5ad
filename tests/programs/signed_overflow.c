/* Adds amounts to a balance; each is in range, their sum need not be. */
extern int __VERIFIER_nondet_int(void);

int main(void)
{
    int balance = 0;

    for (int i = 0; i < 5; i++) {
        int amount = __VERIFIER_nondet_int();
        if (amount < 0 || amount > 1000000000)
            return 1;
#ifdef FIXED
        if (amount > 2147483647 - balance)
            return 1;
#endif
        balance += amount; /* here */
    }
    return balance == 7;
}
