/* Reads the word behind the first colon. */
#include <stdio.h>

int main(void)
{
    char word[20];
    unsigned n = 0;
    int c;

    while ((c = getchar()) != EOF && c != ':')
        ;
    while ((c = getchar()) != EOF && c != ' ') {
#ifdef FIXED
        if (n == sizeof word - 1)
            break;
#endif
        word[n++] = (char)c; /* here */
    }
    return n > 0 ? word[0] : 0;
}
