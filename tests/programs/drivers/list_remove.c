/* The first two entries of a list are unlinked; the second may not be there. */
struct entry {
    struct entry *next;
    unsigned key;
};

extern struct entry *table_bucket(unsigned hash);

int main(void)
{
    struct entry *first = table_bucket(12), *second;

    if (!first || first->key != 0x1234)
        return 1;
    second = first->next;
#ifdef FIXED
    if (!second)
        return 2;
#endif
    first->next = second->next; /* here */
    second->next = 0;
    return 0;
}
