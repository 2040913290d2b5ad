#include "frames.h"

#include <string.h>

#define DECODERS 4
#define ROOM 16
#define NEWEST 2

enum state { CLOSED, OPEN, CONFIGURED, FED };

struct decoder {
    enum state state;
    int version;
    int mark;
    size_t limit;
    int escaped;
    unsigned char held[ROOM];
    size_t used;
};

static struct decoder decoders[DECODERS];

static struct decoder *find(int number) {
    if (number < 1 || number > DECODERS) return NULL;
    return &decoders[number - 1];
}

int frames_open(int version) {
    if (version < 1 || version > NEWEST) return FRAMES_REFUSED;
    for (int i = 0; i < DECODERS; i++) {
        if (decoders[i].state != CLOSED) continue;
        memset(&decoders[i], 0, sizeof decoders[i]);
        decoders[i].state = OPEN;
        decoders[i].version = version;
        return i + 1;
    }
    return FRAMES_REFUSED;
}

int frames_configure(int number, int mark, int limit) {
    struct decoder *decoder = find(number);
    if (!decoder || decoder->state != OPEN) return FRAMES_REFUSED;
    if (limit < 1 || limit > ROOM || mark == '\\') return FRAMES_REFUSED;
    decoder->mark = mark;
    decoder->limit = (size_t)limit;
    decoder->state = CONFIGURED;
    return 0;
}

static int has_room(const struct decoder *decoder) { return decoder->used < decoder->limit; }

int frames_feed(int number, const unsigned char *piece, size_t size) {
    struct decoder *decoder = find(number);
    if (!decoder || decoder->state < CONFIGURED) return FRAMES_REFUSED;
    int frames = 0;
    for (size_t i = 0; i < size; i++) {
        if (decoder->escaped) {
            decoder->escaped = 0;
#ifdef FIXED
            if (!has_room(decoder)) return FRAMES_TOO_LONG;
#endif
            decoder->held[decoder->used++] = piece[i];
        } else if (piece[i] == '\\' && decoder->version > 1) {
            decoder->escaped = 1;
        } else if (piece[i] == decoder->mark) {
            frames++;
            decoder->used = 0;
        } else {
            if (!has_room(decoder)) return FRAMES_TOO_LONG;
            decoder->held[decoder->used++] = piece[i];
        }
    }
    decoder->state = FED;
    return frames;
}

int frames_finish(int number, unsigned char *out, size_t capacity) {
    struct decoder *decoder = find(number);
    if (!decoder || decoder->state != FED || decoder->used > capacity) return FRAMES_REFUSED;
    memcpy(out, decoder->held, decoder->used);
    return (int)decoder->used;
}

int frames_close(int number) {
    struct decoder *decoder = find(number);
    if (!decoder || decoder->state == CLOSED) return FRAMES_REFUSED;
    decoder->state = CLOSED;
    return 0;
}
