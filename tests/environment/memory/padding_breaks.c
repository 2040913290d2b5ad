// world: breaks
// property: assertion
// native: wrap malloc
// why: bytes between the members hold anything
#include <assert.h>
#include <stdlib.h>
#include <string.h>
struct item {
    char kind;
    int value;
};
int main(void)
{
    static struct item a = {1, 2};
    struct item *b = malloc(sizeof *b);
    if (!b)
        return 0;
    b->kind = 1;
    b->value = 2;
    assert(memcmp(&a, b, sizeof a) == 0);
    return 0;
}
