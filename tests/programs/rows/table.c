/* A table of chains. Wrong: a chain that has one entry keeps it when it is taken out. */
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 32

struct entry {
    unsigned key, value;
    struct entry *next;
};

static struct entry *table[BUCKETS];

static struct entry *find(unsigned key) {
    struct entry *entry = table[key % BUCKETS];
    while (entry && entry->key != key) entry = entry->next;
    return entry;
}

static int put(unsigned key, unsigned value) {
    struct entry *entry = find(key);
    if (!entry) {
        entry = malloc(sizeof *entry);
        if (!entry) return -1;
        entry->key = key;
        entry->next = table[key % BUCKETS];
        table[key % BUCKETS] = entry;
    }
    entry->value = value;
    return 0;
}

/* Takes the first entry of a chain out. */
static void drop(unsigned key) {
    struct entry *entry = table[key % BUCKETS];
    if (!entry) return;
#ifdef FIXED
    table[key % BUCKETS] = entry->next;
#else
    if (entry->next) table[key % BUCKETS] = entry->next;
#endif
    free(entry);
}

int main(void) {
    int c;
    unsigned value = 0;
    while ((c = getchar()) != EOF) {
        if (c < ' ') drop((unsigned)c);
        else if (put((unsigned)c, value++)) break;
    }
    for (int i = 0; i < BUCKETS; i++) {
        struct entry *entry = table[i];
        while (entry) {
            struct entry *next = entry->next;
            free(entry);
            entry = next;
        }
        table[i] = NULL;
    }
    return 0;
}
