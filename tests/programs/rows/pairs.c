/* An array of structures that own two texts each. Wrong: a value that repeats is shared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    char *key;
    char *value;
    int used;
};

static struct pair pairs[10];
static int count;

static int add(const char *key, const char *value) {
    if (count >= 10) return -1;
    struct pair *pair = &pairs[count];
    pair->key = strdup(key);
    if (!pair->key) return -1;
#ifndef FIXED
    if (count && !strcmp(pairs[count - 1].value, value)) {
        pair->value = pairs[count - 1].value;
        count++;
        return 0;
    }
#endif
    pair->value = strdup(value);
    if (!pair->value) {
        free(pair->key);
        return -1;
    }
    pair->used = 1;
    count++;
    return 0;
}

int main(void) {
    char key[16], value[16];
    while (fgets(key, sizeof key, stdin) && fgets(value, sizeof value, stdin))
        if (add(key, value)) break;
    for (int i = 0; i < count; i++) {
        free(pairs[i].key);
        free(pairs[i].value);
    }
    return 0;
}
