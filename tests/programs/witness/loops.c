/* Safe: loops one after the other and one in the other, of all three kinds. */
extern unsigned int __VERIFIER_nondet_uint(void);
extern void reach_error(void);
int table[10];

int main(void)
{
    unsigned int n = __VERIFIER_nondet_uint();
    int i = 0, turns = 0;
    if (n > 10)
        n = 10;
    while (i < (int)n) {
        int j = 0;
        while (j < i) {
            table[j] += 1;
            j++;
        }
        table[i] = i;
        i++;
    }
    if (i < 0 || i > 10)
        reach_error();
    do {
        turns++;
    } while (turns < 5);
    if (turns != 5)
        reach_error();
    return 0;
}
