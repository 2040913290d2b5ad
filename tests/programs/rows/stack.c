/* A stack of texts. Wrong: a text that is exchanged stays where it was, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 12

static char *stack[DEPTH];
static unsigned depth;

static int push(const char *text) {
    if (depth == DEPTH) return -1;
    char *copy = strdup(text);
    if (!copy) return -1;
    stack[depth++] = copy;
    return 0;
}

static void pop(void) {
    if (!depth) return;
#ifdef FIXED
    depth--;
    free(stack[depth]);
#else
    free(stack[depth - 1]);
    if (depth > 1) depth--;
#endif
}

int main(void) {
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] == '-') pop();
        else if (push(line)) break;
    }
    while (depth) {
#ifdef FIXED
        pop();
#else
        free(stack[--depth]);
#endif
    }
    return 0;
}
