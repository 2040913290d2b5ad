/* A table of chains in an object of its own. Wrong: an entry that is moved to the first place of its chain is still where it was. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int key;
    struct node *next;
};

struct map {
    struct node **buckets;
    unsigned size, used;
};

static struct map *map_new(unsigned size) {
    struct map *map = malloc(sizeof *map);
    if (!map) return NULL;
    map->buckets = calloc(size, sizeof *map->buckets);
    if (!map->buckets) {
        free(map);
        return NULL;
    }
    map->size = size;
    map->used = 0;
    return map;
}

static int map_add(struct map *map, int key) {
    unsigned at = (unsigned)key % map->size;
    for (struct node *node = map->buckets[at]; node; node = node->next)
        if (node->key == key) {
#ifndef FIXED
            if (node != map->buckets[at]) {
                node->next = map->buckets[at]->next;
                map->buckets[at] = node;
            }
#endif
            return 0;
        }
    struct node *node = malloc(sizeof *node);
    if (!node) return -1;
    node->key = key;
    node->next = map->buckets[at];
    map->buckets[at] = node;
    map->used++;
    return 0;
}

static void map_free(struct map *map) {
    for (unsigned i = 0; i < map->size; i++) {
        struct node *node = map->buckets[i];
        while (node) {
            struct node *next = node->next;
            free(node);
            node = next;
        }
    }
    free(map->buckets);
    free(map);
}

int main(void) {
    struct map *map = map_new(7);
    int c;
    if (!map) return 1;
    while ((c = getchar()) != EOF)
        if (map_add(map, c)) break;
    map_free(map);
    return 0;
}
