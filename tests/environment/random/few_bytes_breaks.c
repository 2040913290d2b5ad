// world: breaks
// property: assertion
// native: wrap getrandom
// assumption: io
// why: fewer bytes may come, or none
#include <assert.h>
#include <sys/random.h>
int main(void)
{
    unsigned char key[16] = "";
    assert(getrandom(key, sizeof key, 0) == sizeof key);
    return 0;
}
