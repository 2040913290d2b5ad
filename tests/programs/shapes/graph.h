typedef void *graph_profile;
typedef struct graph_allocator graph_allocator;
typedef struct graph_shared graph_shared;
typedef struct graph_map graph_map;
typedef struct { float x, y; } graph_point;
/* The places in `text` at which words begin. */
int graph_at(const unsigned char *text, int textSize, const int *index, int indexSize);
int graph_check(const unsigned char stored[16], const char *name, unsigned long limit);
graph_profile graph_profile_new(int kind);
void graph_profile_free(graph_profile profile);
int graph_form(graph_profile profile, unsigned int nBytes);
graph_map *graph_map_new(graph_allocator *allocator, graph_shared *shared);
graph_shared *graph_shared_new(graph_map *map);
void graph_map_free(graph_map *map);
int graph_map_size(graph_map *map, int x);
float graph_sum(const graph_point *points);
int graph_read(const unsigned char *text, int textSize);
/* Sets `*out_len`, and needs twice the room. */
int graph_pack(const unsigned char *src, int srcSize, unsigned char *dst, unsigned long *dst_len);
/* Takes `*dst_len` for the room. */
int graph_fit(const unsigned char *src, int srcSize, unsigned char *dst, unsigned long *dst_len);
int graph_copy(const unsigned char *src, int srcSize, unsigned char *dst, int dstSize);
void graph_hex(char *digits, const void *from, int from_len);
int graph_undo(const unsigned char *src, int srcSize, unsigned char *dst, unsigned long *dst_len);
int graph_undo_safe(const unsigned char *src, int srcSize, unsigned char *dst, unsigned long *dst_len);
