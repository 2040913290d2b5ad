// world: breaks
// property: assertion
// native: ext
// why: the text from the environment need not have two numbers
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    const char *text = getenv("PAIRS_SIZE");
    int w = 0, h = 0;
    if (text)
        assert(sscanf(text, "%dx%d", &w, &h) == 2);
    return 0;
}
