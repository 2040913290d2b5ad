/* A stack of numbers. Wrong: the last one is released and stays on the stack. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct stack {
    struct node *top;
    unsigned count;
};

static int push(struct stack *stack, int value) {
    struct node *node = malloc(sizeof *node);
    if (!node) return -1;
    node->value = value;
    node->next = stack->top;
    stack->top = node;
    stack->count++;
    return 0;
}

static int pop(struct stack *stack) {
    struct node *node = stack->top;
    if (!node) return -1;
    int value = node->value;
#ifdef FIXED
    stack->top = node->next;
#else
    if (node->next) stack->top = node->next;
#endif
    stack->count--;
    free(node);
    return value;
}

int main(void) {
    struct stack *stack = calloc(1, sizeof *stack);
    int c, last = 0;
    if (!stack) return 1;
    while ((c = getchar()) != EOF) {
        if (c == '-') last = pop(stack);
        else if (push(stack, c)) break;
    }
    while (stack->top) last += pop(stack);
    free(stack);
    return last & 1;
}
