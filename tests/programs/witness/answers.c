/* A violation that depends on what three functions answer, one of them in a loop, and one of them nobody's. */
extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);
int sensor(int channel);

int main(void)
{
    int key = __VERIFIER_nondet_int();
    unsigned char level = __VERIFIER_nondet_uchar();
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += sensor(i) & 0xff;
    if (key == -12345 && level == 200)
        if (sum == 77)
            reach_error(); /* here */
    return 0;
}
