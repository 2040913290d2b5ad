/* A list is turned around in place. Wrong: its first node, which becomes the last one, still leads to what was the second. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    char value;
};

int main(void) {
    struct node *list = NULL, *turned = NULL;
    int c;
    while ((c = getchar()) != EOF) {
        struct node *node = malloc(sizeof *node);
        if (!node) return 1;
        node->value = (char)c;
        node->next = list;
        list = node;
    }
#ifndef FIXED
    if (list) {
        turned = list;
        list = list->next;
    }
#endif
    while (list) {
        struct node *next = list->next;
        list->next = turned;
        turned = list;
        list = next;
    }
    while (turned) {
        struct node *next = turned->next;
        free(turned);
        turned = next;
    }
    return 0;
}
