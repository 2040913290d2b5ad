// A text grows letter by letter. Wrong: its room is compared without the NUL behind it.
#include <stdio.h>
#include <stdlib.h>

struct text {
    char *at;
    size_t used, room;
};

#ifdef FIXED
#define NUL 1
#else
#define NUL 0
#endif

static int reserve(struct text *t, size_t more) {
    if (t->used + more + NUL <= t->room) return 0;
    size_t room = t->room ? 2 * t->room : 16;
    while (room < t->used + more + NUL) room *= 2;
    char *at = realloc(t->at, room);
    if (!at) return -1;
    t->at = at;
    t->room = room;
    return 0;
}

static int put(struct text *t, char c) {
    if (reserve(t, 1)) return -1;
    t->at[t->used++] = c;
    t->at[t->used] = 0;
    return 0;
}

int main(void) {
    struct text t = {NULL, 0, 0};
    int c;
    while ((c = getchar()) != EOF)
        if (put(&t, (char)c)) break;
    if (t.at) printf("%s\n", t.at);
    free(t.at);
    return 0;
}
