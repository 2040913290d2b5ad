/* A list that the bus returns is counted into an array that is one too small. */
struct node {
    struct node *next;
    int kind;
};

extern struct node *bus_devices(void);

static int seen[3];

int main(void)
{
    struct node *node;
    int count = 0;

    for (node = bus_devices(); node; node = node->next) {
        if (node->kind == 0)
            break;
#ifdef FIXED
        if (count == 3)
            break;
#endif
        seen[count++] = node->kind; /* here */
    }
    return count;
}
