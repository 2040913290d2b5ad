/* Nodes behind others are taken out. Wrong: the node before one that is released still leads to it. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

int main(void) {
    struct node *head = NULL;
    int c;
    while ((c = getchar()) != EOF) {
        struct node *node = malloc(sizeof *node);
        if (!node) break;
        node->value = c;
        node->next = head;
        head = node;
    }
    struct node *at = head;
    while (at) {
        struct node *after = at->next;
        if (after && after->value == at->value) {
#ifdef FIXED
            at->next = after->next;
#endif
            free(after);
        }
        at = at->next;
    }
    while (head) {
        struct node *next = head->next;
        free(head);
        head = next;
    }
    return 0;
}
