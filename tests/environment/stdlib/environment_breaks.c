// world: breaks
// property: assertion
// native: alone
// assumption: environment
// why: the environment holds something
#include <assert.h>
#include <unistd.h>
extern char **environ;
int main(void)
{
    assert(!environ || !environ[0]);
    return 0;
}
