/* What a link leads to differs between two ways that meet, and on one of them it is the node that is read later. That way is taken where a hash has one
 * value, which no search finds: only abstract interpretation speaks of it. */
#include <stdio.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static unsigned hash(unsigned x) {
    for (int i = 0; i < 64; i++) {
        x *= 2654435761u;
        x ^= x >> 13;
    }
    return x;
}

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
    unsigned turn = __VERIFIER_nondet_uint();
    struct node *head = list(), *two = NULL, *before = NULL, *at = head, *rest = NULL;
    while (at && at->value != 'a') {
        before = at;
        at = at->next;
    }
    if (!at || !before) return 0;
    struct node *last = before;
    if (hash(turn) != 0x1234567u) {
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
    free(gone);
    return at->value + (rest != NULL) + (head != NULL) + (two != NULL) + (gone != NULL);
}
