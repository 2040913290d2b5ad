// world: holds
// property: assertion
// native: ext
// why: two open files have two numbers
#include <assert.h>
#include <fcntl.h>
int main(void)
{
    int a = open("/dev/null", O_RDONLY), b = open("/dev/null", O_RDONLY);
    assert(a == -1 || a != b);
    return 0;
}
