/* Texts in an array within a structure. Wrong: the last text is released when its place is given away, and its place is read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct menu {
    int count;
    char *items[8];
    int last;
};

static void set(struct menu *menu, int at, const char *text) {
    char *copy = strdup(text);
    if (!copy) return;
    free(menu->items[at]);
    menu->items[at] = copy;
}

static void unset(struct menu *menu, int at) {
    free(menu->items[at]);
#ifdef FIXED
    menu->items[at] = NULL;
#endif
}

int main(void) {
    struct menu menu;
    char line[20];
    memset(&menu, 0, sizeof menu);
    while (fgets(line, sizeof line, stdin)) {
        int at = line[0] & 7;
        if (line[1] == '-') unset(&menu, at);
        else set(&menu, at, line);
        menu.last = at;
        menu.count++;
    }
    for (int i = 0; i < 8; i++) free(menu.items[i]);
    return 0;
}
