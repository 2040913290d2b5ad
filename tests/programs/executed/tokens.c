/* Words are cut out of a line, read as numbers, and looked for in a table of names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void reach_error(void);

static const char *const colours[] = { "red", "green", "blue" };

static int number_of(const char *name)
{
    for (unsigned i = 0; i < sizeof colours / sizeof *colours; i++)
        if (strcmp(colours[i], name) == 0)
            return (int)i;
    return -1;
}

int main(void)
{
    char line[] = "blue,12;red,-4;green,7";
    int sums[3] = { 0 };
    char *rest = line;
    for (char *part = strtok_r(line, ";", &rest); part; part = strtok_r(NULL, ";", &rest)) {
        char name[16];
        int value = 0;
        if (sscanf(part, "%15[a-z],%d", name, &value) != 2)
            reach_error();
        int at = number_of(name);
        if (at < 0)
            reach_error();
        sums[at] += value;
    }
    char text[32];
    snprintf(text, sizeof text, "%d/%d/%d", sums[0], sums[1], sums[2]);
#ifdef FIXED
    if (strcmp(text, "-4/7/12") != 0)
#else
    if (strcmp(text, "-4/7/13") != 0)
#endif
        reach_error();
    return 0;
}
