/* Switches, goto, computed goto, nested loops with break and continue, a VLA, comma and conditional operators. */
#include <stdio.h>
#include "crunner.h"

static int interpret(const unsigned char *code, int n)
{
    static const void *const jump[] = {&&push, &&add, &&dup, &&swap, &&halt};
    int stack[8] = {0}, top = 0, at = 0;
next:
    if (at >= n)
        return top ? stack[top - 1] : 0;
    goto *jump[code[at++] % 5];
push:
    if (top == 8)
        return -1;
    stack[top++] = at < n ? code[at++] : 0;
    goto next;
add:
    if (top < 2)
        return -2;
    stack[top - 2] += stack[top - 1], top--;
    goto next;
dup:
    if (!top || top == 8)
        return -3;
    stack[top] = stack[top - 1];
    top++;
    goto next;
swap:
    if (top >= 2) {
        int t = stack[top - 1];
        stack[top - 1] = stack[top - 2];
        stack[top - 2] = t;
    }
    goto next;
halt:
    return top;
}

static const char *name(int code)
{
    switch (code) {
    case -3 ... -1: return "error";
    case 0: return "zero";
    case 1: case 2: case 3: return "few";
    default: return code > 200 ? "many" : "some";
    }
}

int main(void)
{
    int n = crunner_get_byte() % 24 + 1;
    unsigned char code[n];
    crunner_get_bytes(code, (size_t)n);
    int value = interpret(code, n);
    printf("%d %s\n", value, name(value));
    int odd = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i; ; j++) {
            if (j >= n)
                break;
            if (code[j] & 1)
                continue;
            odd += code[j] ? 1 : 2;
            if (odd > 100)
                goto out;
        }
    }
out:
    printf("%d\n", odd);
    return value & 15;
}
