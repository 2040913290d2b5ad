struct node {
    int value;
    struct node *next;
};
void walk(struct node *head)
{
    while (head->next)
        head = head->next;
    head->value = 30;
}
