struct box {
    int size;
    int *value;
};
void fill(struct box *b)
{
    if (b->value)
        *b->value = 1;
}
