#include "kv.h"

#include <stdlib.h>
#include <string.h>

struct kv {
    struct kv_limits limits;
    unsigned used;
    int values[8];
    char keys[8];
};

int kv_check(const kv_byte *text, size_t length)
{
    size_t i, open = 0;

    for (i = 0; i < length; i++) {
        if (text[i] == '{')
            open++;
        else if (text[i] == '}' && open-- == 0)
            return -1;
    }
    return open ? -1 : 0;
}

int kv_unquote(char *dest, size_t *destLen, const char *source, size_t sourceLen)
{
    size_t i, n = 0;

    for (i = 0; i < sourceLen; i++) {
        if (source[i] == '\\' && ++i == sourceLen)
            return -1;
        if (n == *destLen)
            return -2;
        dest[n++] = source[i];
    }
    *destLen = n;
    return 0;
}

size_t kv_copy(const void *src, void *dst, size_t srcSize, size_t dstCapacity)
{
    size_t n = srcSize < dstCapacity ? srcSize : dstCapacity;

    if (n)
        memcpy(dst, src, n);
    return n;
}

int kv_skip(const kv_byte *text, size_t length, size_t offset)
{
    return offset < length ? text[offset] : -1;
}

long kv_number(const char *text, int *value)
{
    char *end;
    long number = strtol(text, &end, 0);

    *value = (int)(number & 0xff);
    return end - text;
}

kv_t *kv_new(const struct kv_limits *limits)
{
    kv_t *kv = calloc(1, sizeof *kv);

    if (kv)
        kv->limits = *limits;
    return kv;
}

void kv_free(kv_t *kv) { free(kv); }

int kv_put(kv_t *kv, const char *key, int value, kv_style style)
{
    if (style == KV_HEX)
        value &= 0xff;
    if (!key[0] || kv->used == 8)
        return -1;
    kv->keys[kv->used] = key[0];
    kv->values[kv->used++] = value;
    return 0;
}

int kv_parse(kv_t *kv, const char *text, size_t text_len)
{
    size_t i;

    for (i = 0; i + 2 < text_len; i += 3) {
        char key[2] = {text[i], 0};

        if (text[i + 1] != '=' || kv_put(kv, key, text[i + 2], KV_PLAIN))
            return -1;
    }
    return (int)kv->used;
}

int kv_each(kv_t *kv, kv_visit visit, void *context)
{
    unsigned i;

    for (i = 0; i < kv->used; i++) {
        char key[2] = {kv->keys[i], 0};

        if (visit(context, key, kv->values[i]))
            return 1;
    }
    return 0;
}

int kv_stream_init(struct kv_stream *stream)
{
    stream->state = malloc(4);
    return stream->state ? 0 : -1;
}

int kv_stream_step(struct kv_stream *stream, int flush)
{
    while (stream->avail_in && stream->avail_out) {
        *stream->next_out++ = *stream->next_in++ ^ 0x20;
        stream->avail_in--;
        stream->avail_out--;
    }
    return flush ? 0 : 1;
}

void kv_stream_end(struct kv_stream *stream) { free(stream->state); }

int kv_mix(uint8_t key[16], unsigned rounds)
{
    int i, sum = 0;

    for (i = 0; i < 16; i++)
        sum += key[i] << (rounds & 7);
    return sum;
}

const char *kv_version(void) { return "1"; }

/* Memory of the caller's: without any there is no pool. */
struct kv_pool {
    kv_take take;
    void *own;
    char *block;
    size_t size;
};

struct kv_pool *kv_pool_new(kv_take take, void *own)
{
    struct kv_pool *pool = take(own, NULL, 0, sizeof *pool);

    if (pool) {
        pool->take = take;
        pool->own = own;
        pool->block = NULL;
        pool->size = 0;
    }
    return pool;
}

int kv_pool_fill(struct kv_pool *pool, unsigned char times)
{
    for (; times; times--) {
        char *more = pool->take(pool->own, pool->block, pool->size, pool->size + 1);

        if (!more)
            return -1;
        pool->block = more;
        pool->block[pool->size++] = 1;
    }
    return 0;
}

void kv_pool_free(struct kv_pool *pool)
{
    kv_take take = pool->take;
    void *own = pool->own;

    take(own, pool->block, pool->size, 0);
    take(own, pool, sizeof *pool, 0);
}

/* A handle is a number to its user. */
int kv_open_door(int kind, kv_door *door)
{
    int *made = malloc(sizeof *made);

    if (!made)
        return -1;
    *made = kind & 7;
    *door = (kv_door)made;
    return 0;
}

int kv_knock(kv_door door, int times) { return *(int *)door + (times & 15); }

void kv_close_door(kv_door *door)
{
    free((void *)*door);
    *door = 0;
}

void kv_free_memory(void *memory, size_t size)
{
    if (size)
        free(memory);
}

int kv_at(const char *pathname, long entry_index) { return strlen(pathname) > 3 && entry_index == 7; }

int kv_sound(const unsigned char *notes, int notes_len, short *wave)
{
    int i;

    for (i = 0; i < notes_len && i < 1000; i++)
        wave[i] = (short)(notes[i] << 2);
    return i;
}
