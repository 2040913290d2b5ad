// world: holds
// property: assertion
// native: ext
// why: the list that is handed over ends before it
#include <assert.h>
struct node {
    int value;
    struct node *next;
};
void walk(struct node *head);
int main(void)
{
    struct node c = {3, 0}, b = {2, 0}, a = {1, &b};
    walk(&a);
    assert(c.value == 3);
    return b.value & 1;
}
