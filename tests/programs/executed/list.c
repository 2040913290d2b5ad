/* Records on the heap, linked by a member that knows nothing of them. */
#include <stddef.h>
#include <stdlib.h>
void reach_error(void);

struct link {
    struct link *next;
};

struct record {
    int key;
    struct link link;
};

#define RECORD(l) ((struct record *)((char *)(l) - offsetof(struct record, link)))

static struct link *insert(struct link *head, int key)
{
    struct record *new = malloc(sizeof *new);
    if (!new)
        abort();
    new->key = key;
    struct link **at = &head;
    while (*at && RECORD(*at)->key < key)
        at = &(*at)->next;
    new->link.next = *at;
    *at = &new->link;
    return head;
}

int main(void)
{
    struct link *head = NULL;
    unsigned seed = 17;
    for (int i = 0; i < 40; i++) {
        seed = seed * 1103515245u + 12345u;
        head = insert(head, (int)(seed >> 20));
    }
    int count = 0, last = -1;
    while (head) {
        struct record *record = RECORD(head);
        if (record->key < last)
            reach_error();
        last = record->key;
        head = head->next;
        free(record);
        count++;
    }
#ifdef FIXED
    if (count != 40)
#else
    if (count != 39)
#endif
        reach_error();
    return 0;
}
