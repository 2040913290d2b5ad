// world: breaks
// property: memory
// native: alone
// why: a member of the structure at NULL
struct node {
    long key;
    long value;
};
static struct node *head;
int main(void)
{
    return (int)head->value;
}
