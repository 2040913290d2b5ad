/* Numbers on a stack that grows. Wrong: one is taken from an empty stack. */
#include <stdio.h>
#include <stdlib.h>

static struct {
    int *numbers;
    unsigned depth, room;
} stack;

static int push(int number) {
    if (stack.depth == stack.room) {
        unsigned room = stack.room + 8;
        int *larger = realloc(stack.numbers, room * sizeof *larger);
        if (!larger) return 0;
        stack.numbers = larger;
        stack.room = room;
    }
    stack.numbers[stack.depth++] = number;
    return 1;
}

static int pop(void) {
#ifdef FIXED
    if (stack.depth == 0) return 0;
#endif
    return stack.numbers[--stack.depth];
}

int main(void) {
    int c, sum = 0;
    while ((c = getchar()) != EOF) {
        if (c == '-') sum ^= pop();
        else if (stack.depth < 200 && !push(c)) break;
    }
    free(stack.numbers);
    return sum & 1;
}
