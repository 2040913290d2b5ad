// world: holds
// property: assertion
// native: wrap malloc
// why: there is nothing between these members
#include <assert.h>
#include <stdlib.h>
#include <string.h>
struct item {
    int kind;
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
