/* An array is emptied and filled again. Wrong: its room is still what it was. */
#include <stdio.h>
#include <stdlib.h>

struct buffer {
    char *text;
    size_t used, room;
};

static void put(struct buffer *buffer, char c) {
    if (buffer->used == buffer->room) {
        buffer->room = buffer->room ? 2 * buffer->room : 16;
        buffer->text = realloc(buffer->text, buffer->room);
        if (!buffer->text) exit(1);
    }
    buffer->text[buffer->used++] = c;
}

static void empty(struct buffer *buffer) {
    free(buffer->text);
    buffer->text = NULL;
    buffer->used = 0;
#ifdef FIXED
    buffer->room = 0;
#endif
}

int main(void) {
    struct buffer buffer = {NULL, 0, 0};
    int c;
    while ((c = getchar()) != EOF) {
        if (c == '\n') empty(&buffer);
        else if (buffer.used < 300) put(&buffer, (char)c);
    }
    empty(&buffer);
    return 0;
}
