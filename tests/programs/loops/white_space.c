/* A parser skips white space and counts columns, which must fit a field of the token. */
#include <assert.h>
#include <stdio.h>

#ifndef N
#define N 10000
#endif

struct token {
    int column;
    int kind;
};

int main(void) {
    struct token token = {0, 0};
    int c;
    while ((c = getchar()) == ' ' || c == '\t') {
#ifdef FIXED
        if (token.column == N)
            return 1;
#endif
        token.column++;
    }
    token.kind = c == EOF ? 0 : c;
    assert(token.column <= N);
    return token.kind;
}
