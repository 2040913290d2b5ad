// world: holds
// property: assertion
// native: wrap getrandom
// why: never more
#include <assert.h>
#include <sys/random.h>
int main(void)
{
    unsigned char key[16] = "";
    assert(getrandom(key, sizeof key, 0) <= (long)sizeof key);
    return 0;
}
