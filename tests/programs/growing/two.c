/* Keys and values in two arrays that grow together. Wrong: the values stay as they were. */
#include <stdio.h>
#include <stdlib.h>

struct table {
    char *keys;
    short *values;
    size_t used, room;
};

static int grow(struct table *table) {
    size_t room = table->room + 16;
    char *keys = realloc(table->keys, room);
    if (!keys) return 0;
    table->keys = keys;
#ifdef FIXED
    short *values = realloc(table->values, room * sizeof *values);
#else
    short *values = table->values ? table->values : malloc(room * sizeof *values);
#endif
    if (!values) return 0;
    table->values = values;
    table->room = room;
    return 1;
}

int main(void) {
    struct table table = {0};
    int c, sum = 0;
    while ((c = getchar()) != EOF && table.used < 100) {
        if (table.used == table.room && !grow(&table)) break;
        table.keys[table.used] = (char)c;
        table.values[table.used] = (short)(c * 2);
        table.used++;
    }
    for (size_t i = 0; i < table.used; i++) sum += table.keys[i] ^ table.values[i];
    free(table.keys);
    free(table.values);
    return sum & 1;
}
