/* Nodes that own a text. Wrong: a node without a text of its own takes that of the one before it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *name;
    struct entry *next;
};

static struct entry *add(struct entry *all, const char *name) {
    struct entry *entry = malloc(sizeof *entry);
    if (!entry) return all;
#ifndef FIXED
    if (!*name && all) {
        entry->name = all->name;
        entry->next = all;
        return entry;
    }
#endif
    entry->name = malloc(strlen(name) + 1);
    if (!entry->name) {
        free(entry);
        return all;
    }
    strcpy(entry->name, name);
    entry->next = all;
    return entry;
}

static void release(struct entry *all) {
    while (all) {
        struct entry *next = all->next;
        free(all->name);
        free(all);
        all = next;
    }
}

int main(void) {
    struct entry *all = NULL;
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        all = add(all, line);
    }
    release(all);
    return 0;
}
