// world: breaks
// property: assertion
// native: alone
// assumption: environment
// why: main's third argument leads to the environment
#include <assert.h>
int main(int argc, char **argv, char **envp)
{
    assert(!envp[0]);
    return 0;
}
