/* The environment: variables, time, random numbers, output results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(void)
{
    const char *home = getenv("HOME");
    const char *again = getenv("HOME");
    if (home && strcmp(home, again) != 0)
        abort();
    srand((unsigned)time(NULL));
    int r = rand();
    if (r < 0)
        abort();
    int c, n = 0;
    while ((c = getchar()) != EOF && n < 40) {
        if (c == '\n' && ungetc('!', stdin) == '!')
            n++;
        n += c & 1;
    }
    printf("%s %d %d\n", home ? home : "(none)", r % 10, n);
    return n;
}
