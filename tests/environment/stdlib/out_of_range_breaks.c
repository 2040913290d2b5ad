// world: breaks
// property: assertion
// native: ext
// why: a number that is too large sets errno
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
int main(void)
{
    const char *text = getenv("PAIRS_SIZE");
    if (!text)
        return 0;
    errno = 0;
    strtoul(text, 0, 10);
    assert(errno != ERANGE);
    return 0;
}
