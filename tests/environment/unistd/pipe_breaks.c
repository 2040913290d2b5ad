// world: breaks
// property: assertion
// native: alone
// why: a pipe can be made
#include <assert.h>
#include <unistd.h>
int main(void)
{
    int ends[2];
    assert(pipe(ends) != 0);
    return 0;
}
