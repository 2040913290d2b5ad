/* What a link leads to differs between two ways that meet. Wrong: on one of them it is the node that is read later. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *list(void) {
    struct node *head = NULL;
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
        struct node *node = malloc(sizeof *node);
        if (!node) break;
        node->value = c;
        node->next = head;
        head = node;
    }
    return head;
}

int main(void) {
    int turn = getchar();
    struct node *head = list(), *two = NULL, *before = NULL, *at = head, *rest = NULL;
    while (at && at->value != 'a') {
        before = at;
        at = at->next;
    }
    if (!at || !before) return 0;
    struct node *last = before;
    if (turn != 'x') {
        two = list();
        last = two;
        while (last && last->value != 'b') last = last->next;
        if (!last) return 0;
        rest = at->next;
        at->next = NULL;
        last->next = rest;
    }
    struct node *gone = last->next;
    last->next = NULL;
#ifndef FIXED
    free(gone);
#endif
    return at->value + (rest != NULL) + (head != NULL) + (two != NULL) + (gone != NULL);
}
