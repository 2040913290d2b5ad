/* A machine of five instructions, by computed jumps. */
void reach_error(void);

int main(void)
{
    static const unsigned char code[] = { 1, 200, 0, 3, 2, 4 };
    static void *const jumps[] = { &&add, &&push, &&jump, &&count, &&stop };
    unsigned at = 0, sum = 0, value = 0;
    goto *jumps[code[at]];
push:
    value = code[at + 1];
    at += 2;
    goto *jumps[code[at]];
add:
    sum += value;
    at++;
    goto *jumps[code[at]];
count:
    value--;
    at++;
    goto *jumps[code[at]];
jump:
    at = value ? 2 : 5;
    goto *jumps[code[at]];
stop:
#ifdef FIXED
    if (sum != 200 * 201 / 2)
#else
    if (sum != 200 * 199 / 2)
#endif
        reach_error();
    return 0;
}
