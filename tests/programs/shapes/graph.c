#include <stdlib.h>
#include "graph.h"
struct graph_map { int size; };
struct graph_shared { graph_map *map; };
int graph_at(const unsigned char *text, int textSize, const int *index, int indexSize)
{
    int sum = 0;
    (void)textSize;
    for (int i = 0; i < indexSize; i++)
        sum += text[index[i]];
    return sum;
}
int graph_check(const unsigned char stored[16], const char *name, unsigned long limit)
{
    return stored[0] == 7 && stored[15] == 9 && limit > 4 && name[0] == 'n';
}
graph_profile graph_profile_new(int kind)
{
    int *made = malloc(64);
    if (made)
        made[15] = kind;
    return made;
}
void graph_profile_free(graph_profile profile) { free(profile); }
int graph_form(graph_profile profile, unsigned int nBytes)
{
    return ((int *)profile)[15] > 3 && nBytes > 9;
}
graph_map *graph_map_new(graph_allocator *allocator, graph_shared *shared)
{
    (void)allocator;
    graph_map *map = malloc(sizeof *map);
    if (map)
        map->size = shared ? 2 : 1;
    return map;
}
graph_shared *graph_shared_new(graph_map *map)
{
    graph_shared *shared = malloc(sizeof *shared);
    if (shared)
        shared->map = map;
    return shared;
}
void graph_map_free(graph_map *map) { free(map); }
int graph_map_size(graph_map *map, int x) { return x > 5 ? map->size : 0; }
float graph_sum(const graph_point *points)
{
    float sum = 0;
    for (int i = 0; i < 5; i++)
        sum += points[i].x;
    return sum;
}
int graph_read(const unsigned char *text, int textSize)
{
    if (textSize < 5)
        return 0;
    int at = text[0] | text[1] << 8 | text[2] << 16 | text[3] << 24;
    return text[at];
}
int graph_pack(const unsigned char *src, int srcSize, unsigned char *dst, unsigned long *dst_len)
{
    for (int i = 0; i < srcSize; i++)
        dst[2 * i] = dst[2 * i + 1] = src[i];
    *dst_len = 2ul * (unsigned)srcSize;
    return 0;
}
int graph_fit(const unsigned char *src, int srcSize, unsigned char *dst, unsigned long *dst_len)
{
    if (*dst_len + 1 < (unsigned)srcSize)
        return -1;
    for (int i = 0; i < srcSize; i++)
        dst[i] = src[i];
    return 0;
}
int graph_copy(const unsigned char *src, int srcSize, unsigned char *dst, int dstSize)
{
    (void)dstSize;
    for (int i = 0; i < srcSize; i++)
        dst[i] = src[i];
    return 0;
}
void graph_hex(char *digits, const void *from, int from_len)
{
    const unsigned char *at = from;
    for (int i = 0; i < from_len; i++) {
        *digits++ = "0123456789abcdef"[at[i] >> 4];
        *digits++ = "0123456789abcdef"[at[i] & 15];
    }
    *digits = 0;
}
int graph_undo_safe(const unsigned char *src, int srcSize, unsigned char *dst, unsigned long *dst_len)
{
    if (srcSize < 1 || *dst_len < src[0])
        return -1;
    for (int i = 0; i < src[0]; i++)
        dst[i] = 0;
    return 0;
}
int graph_undo(const unsigned char *src, int srcSize, unsigned char *dst, unsigned long *dst_len)
{
    *dst_len = srcSize > 0 ? src[0] : 0;
    for (unsigned long i = 0; i < *dst_len; i++)
        dst[i] = 0;
    return 0;
}
