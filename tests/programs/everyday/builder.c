/* A text to which others are appended; its room is doubled until it is large enough. Wrong: there is no room for the zero byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FIXED
#define END 1
#else
#define END 0
#endif

struct builder {
    char *text;
    size_t length, room;
};

static int reserve(struct builder *b, size_t more) {
    if (b->length + more + END <= b->room) return 0;
    size_t room = b->room ? b->room : 16;
    while (room < b->length + more + END) room *= 2;
    char *text = realloc(b->text, room);
    if (!text) return -1;
    b->text = text;
    b->room = room;
    return 0;
}

static int append(struct builder *b, const char *text) {
    size_t length = strlen(text);
    if (reserve(b, length)) return -1;
    memcpy(b->text + b->length, text, length + 1);
    b->length += length;
    return 0;
}

int main(void) {
    struct builder b = {NULL, 0, 0};
    char line[64];
    while (fgets(line, sizeof line, stdin))
        if (append(&b, line)) break;
    if (b.text) puts(b.text);
    free(b.text);
    return 0;
}
