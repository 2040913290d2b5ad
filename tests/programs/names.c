/* Names that look like LLVM's, several variables of one name, and accesses of every shape. What is printed about this
   program has to be in its own words. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct pair { int first; int second; };
struct entry3 { struct entry3 *next; int keys[4]; int keys3; struct pair inner; struct pair *outer; };
struct keys { int keys, keys1; char *keys2; };
typedef struct { union { int number; struct { short low, high; }; } u; unsigned flag : 3, mode5 : 13; struct keys *p113; } value_t;
union word { unsigned char bytes[8]; unsigned long whole; };

#define NEXT_OF(n) ((n)->next)
#define CLAMP(x, top) ((x) > (top) ? (top) : (x))

static int table5[5] = {1, 2, 3, 4, 5};
static int grid[3][4];
static struct pair pairs[2];

static inline int helper(const int *cells, int at) { return cells[at]; }

__attribute__((always_inline)) static inline int inlined(struct entry3 *list, int at)
{
    int sum = 0;
    for (int i = 0; i < at; i++)
        sum += list->keys[i];
    return sum + list->keys3;
}

static int shadowed(int *x, int n)
{
    int total = 0;
    for (int i = 0; i < n; i++) { int y = x[i]; total += y; }
    for (int i = n; i > 0; i--) { int y = x[i - 1]; { int y = x[-1 + i]; total -= y; } total += y; }
    return total + x[n - 1];
}

static int moved(char *p, char *p113, long by)
{
    char *p1 = p + by;
    char *p2 = p113;
    if (*p1 == p[-1])
        return p1[-2] + *(p2 - 1) + *--p2;
    *p1++ = (char)by;
    return *p1 + *(short *)(p + 2);
}

static int members(value_t *v, struct entry3 *op, union word *w)
{
    v->u.low = 3;
    v->flag = 5;
    v->mode5 = v->flag + 1;
    v->p113->keys1 = op->inner.second + op->outer->first + op->outer[1].second;
    v->p113->keys2[-1] = 'x';
    w->bytes[v->u.number & 7] = 1;
    return NEXT_OF(NEXT_OF(op))->keys3 + (op->next ? op->next : op)->keys[2] + (int)w->whole;
}

static int dims(int n, int i, int j, int (*call)(const int *, int), int (*calls[2])(const int *, int))
{
    int vla[n];
    int dyn[n][n];
    memset(vla, 0, sizeof vla);
    memset(dyn, 0, sizeof dyn);
    struct pair local = {.first = 3};
    struct pair *made = &(struct pair){4, 5};
    const char *text = "literal";
    vla[i] = grid[i][j] + dyn[j][i] + table5[CLAMP(i, 4)];
    local.second = made->first + text[i] + pairs[i & 1].second;
    return call(vla, i) + calls[i & 1](&vla[j], j) + local.second + (i > j ? vla : table5)[i];
}

static long *give(long **where) { return *where; }

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size < 24)
        return 0;
    struct entry3 *list = malloc(sizeof *list);
    struct entry3 *two = calloc(2, sizeof *two);
    if (!list || !two) {
        free(list);
        free(two);
        return 0;
    }
    struct pair other[2] = {{1, 2}, {3, 4}};
    struct keys under = {0};
    char room[40] = {0};
    value_t v = {0};
    union word w = {0};
    memset(list, 0, sizeof *list);
    list->next = two;
    two->next = &two[1];
    list->outer = other;
    under.keys2 = room + 4;
    v.p113 = &under;
    int result = inlined(list, 3);
    int cells[6] = {data[0], data[1]};
    result += shadowed(cells, 1 + (data[2] & 3)) + helper(cells, data[3] % 6);
    result += moved(room + 8, room + 16, data[4] & 7);
    result += members(&v, list, &w);
    int (*calls[2])(const int *, int) = {helper, helper};
    result += dims(4, data[5] % 3, data[6] & 1, helper, calls);
    long number = data[7], *to = &number;
    result += (int)give(&to)[0];
    int sum113 = 0;
    for (size_t i1 = 0; i1 < size; i1++)
        sum113 = (sum113 + data[i1]) & 0xff;
    size_t last = size;
    while (last > 0 && data[last - 1] == 0)
        last--;
    int kind = data[8] & 3;
    switch (kind) {
    case 0: result += list->keys[kind + 1]; break;
    case 1: result ^= data[last ? last - 1 : 0]; break;
    default: break;
    }
    free(list);
    free(two);
    return result & sum113 & 0;
}
