/* Lines in an array that grows. Wrong: the array that is refused its growth is released with its lines, and so it is at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines {
    char **items;
    size_t count, room;
};

static int append(struct lines *lines, const char *text) {
    if (lines->count == lines->room) {
        size_t room = lines->room ? 2 * lines->room : 4;
        if (room > 4096) return -1;
        char **items = realloc(lines->items, room * sizeof *items);
        if (!items) return -1;
        lines->items = items;
        lines->room = room;
    }
    char *copy = strdup(text);
    if (!copy) return -1;
    lines->items[lines->count++] = copy;
    return 0;
}

static void clear(struct lines *lines) {
    for (size_t i = 0; i < lines->count; i++) free(lines->items[i]);
    lines->count = 0;
}

int main(void) {
    struct lines lines = {NULL, 0, 0};
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        if (append(&lines, line)) {
#ifndef FIXED
            clear(&lines);
            free(lines.items);
#endif
            break;
        }
    }
    clear(&lines);
    free(lines.items);
    return 0;
}
