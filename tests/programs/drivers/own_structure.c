/* A structure that the program has linked up itself is handed to a function: its pointers stay what they are, though the
 * function might write numbers. */
#include <assert.h>
#include <stddef.h>

struct link {
    struct link *next;
    int users;
};

int link_register(struct link *link);
int link_count(int *users);

int main(void)
{
    struct link second = {NULL, 1}, first = {&second, 1};
    int users = 0;

    if (link_register(&first) || link_count(&users))
        return 0;
    first.next->users++;
#ifdef FIXED
    if (users < 0)
        return 0;
#endif
    assert(users >= 0); /* here */
    return 0;
}
