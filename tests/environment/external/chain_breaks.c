// world: breaks
// property: assertion
// native: ext
// why: the third link of a list is reached from the first
#include <assert.h>
struct node {
    int value;
    struct node *next;
};
void walk(struct node *head);
int main(void)
{
    struct node c = {3, 0}, b = {2, &c}, a = {1, &b};
    walk(&a);
    assert(c.value == 3);
    return 0;
}
