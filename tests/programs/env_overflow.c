/* Builds the name of a settings file from the environment. */
#include <stdio.h>
#include <stdlib.h>

#define SIZE 24

static unsigned append(char *to, unsigned n, const char *from)
{
    for (unsigned i = 0; from[i] != '\0'; i++) {
#ifdef FIXED
        if (n == SIZE - 1)
            break;
#endif
        to[n++] = from[i]; /* here */
    }
    return n;
}

int main(void)
{
    char name[SIZE];
    const char *home = getenv("APP_HOME");
    unsigned n = 0;

    if (home == NULL)
        home = "/etc";
    n = append(name, n, home);
    n = append(name, n, "/apprc");
    name[n] = '\0'; /* here */
    return name[0] == '/' ? 0 : 1;
}
