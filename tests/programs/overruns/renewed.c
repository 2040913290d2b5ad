/* The block of another turn is another string. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *p = 0;
    for (int i = 0; i < 3; i++) {
        p = malloc(8);
        if (!p) return 0;
        if (i == 1) memset(p, 'a', 8);
        else strcpy(p, "abc");
        if (getchar() == 'x') break;
        if (i < 2) free(p);
    }
    return (int)strlen(p);
}
