/* Nodes are put where their values belong. Wrong: one that is put in the middle is not linked to what was behind it. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *insert(struct node *head, int value) {
    struct node *node = malloc(sizeof *node);
    if (!node) return head;
    node->value = value;
    if (!head || head->value >= value) {
        node->next = head;
        return node;
    }
    struct node *at = head;
    while (at->next && at->next->value < value) at = at->next;
#ifdef FIXED
    node->next = at->next;
#endif
    at->next = node;
    return head;
}

int main(void) {
    struct node *head = NULL;
    int c;
    while ((c = getchar()) != EOF) head = insert(head, c);
    while (head) {
        struct node *next = head->next;
        free(head);
        head = next;
    }
    return 0;
}
