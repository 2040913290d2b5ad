/* Nodes go from one list to two. Wrong: one kind of node is put into both. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *push(struct node *list, struct node *node) {
    node->next = list;
    return node;
}

static void release(struct node *list) {
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
}

int main(void) {
    struct node *all = NULL, *odd = NULL, *even = NULL;
    int c;
    while ((c = getchar()) != EOF) {
        struct node *node = malloc(sizeof *node);
        if (!node) break;
        node->value = c;
        all = push(all, node);
    }
    while (all) {
        struct node *node = all;
        all = all->next;
        if (node->value & 1) odd = push(odd, node);
        else even = push(even, node);
#ifndef FIXED
        if (node->value == 'x') even = push(even, node);
#endif
    }
    release(odd);
    release(even);
    return 0;
}
