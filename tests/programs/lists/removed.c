/* Nodes are taken out behind what trails the cursor. Wrong: the link of the node before is left as it is. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

int main(void) {
    struct node *head = NULL;
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
        struct node *node = malloc(sizeof *node);
        if (!node) break;
        node->value = c;
        node->next = head;
        head = node;
    }
    int wanted = getchar();
    struct node *before = NULL, *at = head;
    while (at) {
        struct node *next = at->next;
        if (at->value == wanted) {
#ifdef FIXED
            if (before) before->next = next;
            else head = next;
#else
            if (!before) head = next;
#endif
            free(at);
        } else {
            before = at;
        }
        at = next;
    }
    while (head) {
        struct node *next = head->next;
        free(head);
        head = next;
    }
    return 0;
}
