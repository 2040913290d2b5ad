// world: holds
// property: assertion
// native: ext
// why: three digits are never too large
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    const char *text = getenv("PAIRS_SIZE");
    char digits[4] = "";
    if (!text)
        return 0;
    strncpy(digits, text, 3);
    errno = 0;
    strtoul(digits, 0, 10);
    assert(errno != ERANGE);
    return 0;
}
