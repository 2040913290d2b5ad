// world: holds
// property: assertion
// native: alone
// why: at the beginning, or not moved
#include <assert.h>
#include <unistd.h>
int main(void)
{
    int ends[2];
    long at;
    if (pipe(ends) != 0)
        return 0;
    at = lseek(ends[0], 0, SEEK_SET);
    assert(at == 0 || at == -1);
    return 0;
}
