/* Two ways out of a function, one of which comes past the other's clean-up. */
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

static int load(char *buffer, int kind)
{
    if (kind == 77) {
#ifndef FIXED
        free(buffer);
#endif
        return -1;
    }
    buffer[0] = (char)kind;
    return 0;
}

int main(void)
{
    char *buffer = malloc(16);
    int error;

    if (buffer == NULL)
        return 1;
    error = load(buffer, __VERIFIER_nondet_int());
    free(buffer); /* here */
    return error;
}
