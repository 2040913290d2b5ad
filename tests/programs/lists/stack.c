/* A list that grows at its front, and is released. Wrong: a node is read after it was released. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

int main(void) {
    struct node *head = NULL;
    int c;
    long sum = 0;
    while ((c = getchar()) != EOF) {
        struct node *node = malloc(sizeof *node);
        if (!node) break;
        node->value = c;
        node->next = head;
        head = node;
    }
    for (const struct node *at = head; at; at = at->next) sum += at->value;
    while (head) {
#ifdef FIXED
        struct node *next = head->next;
        free(head);
        head = next;
#else
        free(head);
        head = head->next;
#endif
    }
    return (int)(sum & 1);
}
