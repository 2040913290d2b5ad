/* A stack of texts that are handed out. Wrong: a text that is looked at is handed out, too, and stays on the stack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 12

struct stack {
    char **items;
    unsigned depth;
};

static int push(struct stack *stack, const char *text) {
    if (stack->depth == DEPTH) return -1;
    char *copy = strdup(text);
    if (!copy) return -1;
    stack->items[stack->depth++] = copy;
    return 0;
}

static char *pop(struct stack *stack) {
    if (!stack->depth) return NULL;
#ifdef FIXED
    return stack->items[--stack->depth];
#else
    return stack->items[stack->depth - 1];
#endif
}

int main(void) {
    struct stack stack = {malloc(DEPTH * sizeof(char *)), 0};
    char line[16];
    if (!stack.items) return 1;
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] == '-') {
            char *text = pop(&stack);
            if (text) putchar(text[0]);
            free(text);
        } else if (push(&stack, line)) break;
    }
#ifdef FIXED
    while (stack.depth) free(pop(&stack));
#endif
    free(stack.items);
    return 0;
}
