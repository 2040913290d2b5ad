/* A line of up to N characters; FAULTY, one more reaches what is behind the array. */
#include <assert.h>
#include <stdio.h>

int main(void)
{
    static char line[N];
    int c, n = 0;
    while ((c = getchar()) != EOF && c != '\n') {
#ifndef FAULTY
        if (n == N)
            break;
#endif
        assert(n < N);
        line[n++] = (char)c;
    }
    return n;
}
