// world: holds
// property: assertion
// native: ext
// why: the array that is asked about never leaves the program
#include <assert.h>
const char *find(const char *text, int c);
int main(void)
{
    char text[4] = "abc", other[4] = "abc";
    char *p = (char *)find(other, 'b');
    if (p)
        *p = 'x';
    assert(text[1] == 'b');
    return 0;
}
