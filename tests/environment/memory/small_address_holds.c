// world: holds
// property: memory
// native: alone
// why: only its offset is computed
#include <stddef.h>
struct node {
    long key;
    long value;
};
static struct node *head;
int main(void)
{
    return head ? (int)head->value : (int)offsetof(struct node, value);
}
