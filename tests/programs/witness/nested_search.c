/* A violation inside two loops and a function. */
extern unsigned int __VERIFIER_nondet_uint(void);
extern void reach_error(void);

static void compare(unsigned int found, int row, int column)
{
    if (found == 0xfffffff0u && row == 1 && column == 1)
        reach_error(); /* here */
}

int main(void)
{
    for (int row = 0; row < 2; row++) {
        int column = 0;
        while (column < 2) {
            compare(__VERIFIER_nondet_uint(), row, column);
            column++;
        }
    }
    return 0;
}
