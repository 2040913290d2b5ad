/* A function fills in a structure whose members lead to further structures. */
#include <stddef.h>

struct name {
    char text[8];
};
struct info {
    int count;
    struct name *name;
    struct info *parent;
};

int info_get(struct info *info);

static int slots[4];

int main(void)
{
    struct info info = {0};

    if (info_get(&info) || !info.parent || !info.parent->name)
        return 0;
    if (info.parent->name->text[0] != 'q')
        return 0;
#ifdef FIXED
    if (info.count < 0 || info.count > 3)
        return 0;
#endif
    slots[info.count]++; /* here */
    return 0;
}
