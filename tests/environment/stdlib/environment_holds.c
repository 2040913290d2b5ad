// world: holds
// property: memory
// native: alone
// why: its list ends with NULL
#include <unistd.h>
extern char **environ;
int main(void)
{
    if (!environ || !environ[0])
        return 0;
    return environ[0][0];
}
