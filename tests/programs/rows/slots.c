/* Handles that are opened and closed. Wrong: a closed one is not forgotten. */
#include <stdio.h>
#include <stdlib.h>

#define SLOTS 8

struct session {
    unsigned uses;
    char name[12];
};

static struct session *slots[SLOTS];

static void open_slot(unsigned i) {
    if (slots[i]) return;
    slots[i] = calloc(1, sizeof **slots);
}

static void use_slot(unsigned i) {
    if (slots[i]) slots[i]->uses++;
}

static void close_slot(unsigned i) {
    free(slots[i]);
#ifndef FIXED
    if (i)
#endif
    slots[i] = NULL;
}

int main(void) {
    int c;
    while ((c = getchar()) != EOF) {
        unsigned i = (unsigned)c % SLOTS;
        switch (c >> 6) {
        case 0: open_slot(i); break;
        case 1: use_slot(i); break;
        default: close_slot(i); break;
        }
    }
    for (unsigned i = 0; i < SLOTS; i++) free(slots[i]);
    return 0;
}
