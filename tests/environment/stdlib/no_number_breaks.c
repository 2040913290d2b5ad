// world: breaks
// property: assertion
// native: ext
// why: a text without digits leaves the end where the text begins
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    const char *text = getenv("PAIRS_INDEX");
    char *end = 0;
    if (!text)
        return 0;
    strtol(text, &end, 10);
    assert(end != text);
    return 0;
}
