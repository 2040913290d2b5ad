/* Short programs for what is known of the last block of a request, and of those before it. Each is right, and wrong by a little with MORE. */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "crunner.h"

#ifndef CASE
#define CASE 1
#endif
#ifndef MORE
#define MORE 0
#endif

static int cells[10];

struct node {
    unsigned value;
    struct node *next;
};

static struct node *make(unsigned value)
{
    struct node *node = malloc(sizeof *node);
    if (!node)
        exit(1);
    node->value = value;
    node->next = 0;
    return node;
}

#if CASE == 1
/* The last block is written, read and given back in each turn. */
int main(void)
{
    unsigned n = crunner_get_byte();
    for (unsigned i = 0; i < n; i++) {
        struct node *node = make(100);
        node->value = i % (10 + MORE);
        cells[node->value]++;
        free(node);
    }
    return 0;
}
#elif CASE == 2
/* A pointer to the block before stays with the caller. */
int main(void)
{
    struct node *last = 0;
    unsigned n = crunner_get_byte();
    for (unsigned i = 0; i < n; i++) {
        struct node *before = last;
        last = make(5);
        if (before)
            before->value = 100;
        cells[(MORE && before ? before : last)->value]++;
    }
    return 0;
}
#elif CASE == 3
/* A list is made and walked. */
int main(void)
{
    struct node *all = 0;
    unsigned n = crunner_get_byte();
    for (unsigned i = 0; i < n; i++) {
        struct node *node = make(i % 10 + (i == 3 ? MORE * 9 : 0));
        node->next = all;
        all = node;
    }
    for (; all; all = all->next)
        cells[all->value]++;
    return 0;
}
#elif CASE == 4
/* What was released in the turn before is used in the next one. */
int main(void)
{
    struct node *old = 0;
    unsigned n = crunner_get_byte();
    for (unsigned i = 0; i < n; i++) {
        struct node *node = make(i);
        if (MORE && i == 4)
            cells[old->value & 7]++;
        cells[node->value & 7]++;
        old = node;
        free(node);
    }
    return 0;
}
#elif CASE == 5
/* A block that leads to itself grows. */
struct self {
    struct self *self;
    unsigned size;
};

int main(void)
{
    struct self *self = malloc(sizeof *self);
    unsigned n = crunner_get_byte();
    if (!self)
        return 1;
    self->self = self;
    self->size = 3;
    for (unsigned i = 0; i < n; i++) {
        struct self *grown = malloc(sizeof *self + i);
        if (!grown)
            break;
        *grown = *self;
        if (!MORE)
            grown->self = grown;
        free(self);
        self = grown;
        cells[self->self->size]++;
    }
    free(self);
    return 0;
}
#elif CASE == 6
/* What is passed without a parameter is older once the callee asked for memory. */
static struct node *fresh(void)
{
    return make(5);
}

static struct node *pass(int count, ...)
{
    va_list list;
    struct node *own = count < 3 ? fresh() : 0;
    va_start(list, count);
    struct node *passed = va_arg(list, struct node *);
    va_end(list);
    if (own && passed)
        passed->value = 100;
    if (own)
        cells[(MORE && passed ? passed : own)->value]++;
    return own ? own : passed;
}

int main(void)
{
    struct node *last = 0;
    int n = crunner_get_byte();
    for (int i = 0; i < n; i++)
        last = pass(i, last);
    return last != 0;
}
#elif CASE == 7
/* A global leads to the last block, a local variable to the one before. */
static struct node *current;

int main(void)
{
    unsigned n = crunner_get_byte();
    current = make(1);
    for (unsigned i = 0; i < n; i++) {
        struct node *before = current;
        current = make(i % 10);
        free(before);
        cells[(MORE ? before : current)->value]++;
    }
    return 0;
}
#elif CASE == 8
/* One of two callees asks for memory. */
static struct node *same(struct node *node)
{
    return node;
}

static struct node *another(struct node *node)
{
    struct node *next = make(6);
    next->next = node;
    return next;
}

int main(void)
{
    struct node *(*const acts[])(struct node *) = {same, another};
    struct node *node = make(2);
    unsigned n = crunner_get_byte();
    for (unsigned i = 0; i < n; i++) {
        struct node *before = node;
        node = acts[crunner_get_bool()](node);
        if (node != before)
            before->value = 9 + MORE;
        cells[before->value]++;
    }
    return 0;
}
#elif CASE == 9
/* The block of the turn before is released inside a call, or is not. */
static struct node *replaced(struct node *old, int keeps)
{
    if (!keeps)
        free(old);
    return make(7);
}

int main(void)
{
    struct node *node = make(7), *kept = make(1);
    unsigned n = crunner_get_byte();
    for (unsigned i = 0; i < n; i++) {
        int keeps = crunner_get_bool();
        struct node *old = node;
        node = replaced(old, keeps);
        kept = keeps || MORE ? old : node;
        cells[kept->value]++;
    }
    return 0;
}
#elif CASE == 10
/* A request may be refused: then the block before is still the last one that was given. */
int main(void)
{
    struct node *last = 0;
    unsigned n = crunner_get_byte();
    for (unsigned i = 0; i < n; i++) {
        size_t size = crunner_get_bool() ? sizeof *last : SIZE_MAX;
        struct node *node = malloc(size);
        if (node) {
            if (last)
                free(last);
            last = node;
            last->value = 4;
        }
        if (last)
            cells[last->value]++;
        if (MORE && i == 2)
            free(last);
    }
    return 0;
}
#elif CASE == 11
/* A list in both directions, taken apart at its end. */
struct both {
    unsigned value;
    struct both *next, *before;
};

int main(void)
{
    struct both *first = 0;
    unsigned n = crunner_get_byte() & 7;
    for (unsigned i = 0; i < n; i++) {
        struct both *node = malloc(sizeof *node);
        if (!node)
            exit(1);
        node->value = i;
        node->before = 0;
        node->next = first;
        if (first)
            first->before = node;
        first = node;
    }
    for (struct both *at = first; at; at = at->next) {
        cells[at->value]++;
        if (at->next)
            cells[at->next->before->value + MORE * 9]++;
    }
    return 0;
}
#else
/* A tree by recursion: no block of it is the last one for the calls around. */
static struct node *tree(unsigned depth)
{
    struct node *node = make(depth % 10);
    if (depth > 0) {
        node->next = tree(depth - 1);
        node->value = node->next->value;
    }
    return node;
}

int main(void)
{
    struct node *root = tree(crunner_get_byte() & 15);
    cells[root->value + (root->next ? MORE * 10 : 0)]++;
    return 0;
}
#endif
