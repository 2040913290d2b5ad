// world: breaks
// property: assertion
// native: ext
// assumption: external-results
// why: the pointer that is returned may lead into the argument
#include <assert.h>
const char *find(const char *text, int c);
int main(void)
{
    char text[4] = "abc";
    char *p = (char *)find(text, 'b');
    text[1] = 'b';
    if (p)
        *p = 'x';
    assert(text[1] == 'b');
    return 0;
}
