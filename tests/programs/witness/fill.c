/* Safe: an array is filled to where it ends, and `continue` leads to the head, too. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void)
{
    int kept[16];
    int count = 0, tried = 0;
    while (tried < 40) {
        int value = __VERIFIER_nondet_int();
        tried++;
        if (value < 0)
            continue;
        if (count == 16)
            break;
        kept[count] = value;
        count++;
    }
    for (int i = 0; i < count; i++)
        if (i >= 16 || kept[i] < 0 && i > 16)
            reach_error();
    return 0;
}
