/* A small library with one function for each way of taking arguments. */
#ifndef KV_H
#define KV_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef unsigned char kv_byte;
typedef struct kv kv_t;
typedef enum { KV_PLAIN, KV_QUOTED = 4, KV_HEX } kv_style;
typedef int (*kv_visit)(void *context, const char *key, int value);
struct kv_limits {
    int depth;
    unsigned entries;
    kv_style style;
    const char *comment;
};
struct kv_stream {
    const kv_byte *next_in;
    unsigned avail_in;
    kv_byte *next_out;
    unsigned avail_out;
    void *state;
};
struct kv_nobody;
typedef void *(*kv_take)(void *own, void *block, size_t before, size_t after);
struct kv_pool;
typedef size_t kv_door;

int kv_check(const kv_byte *text, size_t length);
int kv_unquote(char *dest, size_t *destLen, const char *source, size_t sourceLen);
size_t kv_copy(const void *src, void *dst, size_t srcSize, size_t dstCapacity);
int kv_skip(const kv_byte *text, size_t length, size_t offset);
long kv_number(const char *text, int *value);
kv_t *kv_new(const struct kv_limits *limits);
void kv_free(kv_t *kv);
int kv_put(kv_t *kv, const char *key, int value, kv_style style);
int kv_parse(kv_t *kv, const char *text, size_t text_len);
int kv_each(kv_t *kv, kv_visit visit, void *context);
int kv_stream_init(struct kv_stream *stream);
int kv_stream_step(struct kv_stream *stream, int flush);
void kv_stream_end(struct kv_stream *stream);
int kv_mix(uint8_t key[16], unsigned rounds);
int kv_nowhere(const kv_byte *text, size_t length);
int kv_format(char *out, size_t size, const char *format, ...);
int kv_save(const kv_t *kv, FILE *file);
int kv_ask(struct kv_nobody *nobody, int what);
const char *kv_version(void);
struct kv_pool *kv_pool_new(kv_take take, void *own);
int kv_pool_fill(struct kv_pool *pool, unsigned char times);
void kv_pool_free(struct kv_pool *pool);
int kv_open_door(int kind, kv_door *door);
int kv_knock(kv_door door, int times);
void kv_close_door(kv_door *door);
void kv_free_memory(void *memory, size_t size);
int kv_at(const char *pathname, long entry_index);
int kv_sound(const unsigned char *notes, int notes_len, short *wave);

#endif
