/* A lookup that finds nothing for a key that was not thought of. */
#include <stddef.h>
#include <stdio.h>

struct unit {
    int key;
    int factor;
};

static const struct unit units[] = {{'m', 1000}, {'c', 100}, {'k', 1}};

static const struct unit *find(int key)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (units[i].key == key)
            return &units[i];
    return NULL;
}

int main(void)
{
    int value = getchar();
    const struct unit *unit;

    if (value < '0' || value > '9')
        return 1;
    unit = find(getchar());
#ifdef FIXED
    if (unit == NULL)
        return 1;
#endif
    return (value - '0') * unit->factor > 500; /* here */
}
