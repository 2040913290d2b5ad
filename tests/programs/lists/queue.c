/* A list that grows at its end. Wrong: where it is emptied its last node is kept, and the next one is linked behind it. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct queue {
    struct node *first, *last;
};

static int put(struct queue *queue, int value) {
    struct node *node = malloc(sizeof *node);
    if (!node) return -1;
    node->value = value;
    node->next = NULL;
    if (queue->last) queue->last->next = node;
    else queue->first = node;
    queue->last = node;
    return 0;
}

static void clear(struct queue *queue) {
    struct node *node = queue->first;
    while (node) {
        struct node *next = node->next;
        free(node);
        node = next;
    }
    queue->first = NULL;
#ifdef FIXED
    queue->last = NULL;
#endif
}

int main(void) {
    struct queue queue = {NULL, NULL};
    int c;
    while ((c = getchar()) != EOF) {
        if (c == '\n') clear(&queue);
        else if (put(&queue, c)) break;
    }
    clear(&queue);
    return 0;
}
