/* One member's string has an end, the other's has none. */
#include <stdio.h>
#include <string.h>

struct names {
    char first[8], last[8];
};

int main(void) {
    struct names n;
    memset(&n, 'a', sizeof n);
    n.last[7] = (char)getchar();
    if (!fgets(n.first, sizeof n.first, stdin)) return 0;
    return (int)strlen(n.last);
}
