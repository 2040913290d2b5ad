// world: holds
// property: assertion
// native: ext
// why: a digit is a number
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    char *end = 0, text[] = "7";
    long n = strtol(text, &end, 10);
    assert(end == text + 1 && n == 7);
    return 0;
}
