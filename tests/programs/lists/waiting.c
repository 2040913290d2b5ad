/* A queue knows its last node. Wrong: it still does when that was taken. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct queue {
    struct node *first, *last;
};

static void push(struct queue *queue, int value) {
    struct node *node = malloc(sizeof *node);
    if (!node) return;
    node->value = value;
    node->next = NULL;
    if (queue->last) queue->last->next = node;
    else queue->first = node;
    queue->last = node;
}

static int pop(struct queue *queue) {
    struct node *node = queue->first;
    if (!node) return -1;
    int value = node->value;
    queue->first = node->next;
#ifdef FIXED
    if (!queue->first) queue->last = NULL;
#endif
    free(node);
    return value;
}

int main(void) {
    struct queue queue = {NULL, NULL};
    int c, sum = 0;
    while ((c = getchar()) != EOF) {
        if (c & 1) push(&queue, c);
        else sum += pop(&queue);
    }
    while (queue.first) sum += pop(&queue);
    return sum & 1;
}
