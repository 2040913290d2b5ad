// world: holds
// property: memory
// native: alone
// why: asked
#include <unistd.h>
int main(void)
{
    char path[4];
    return getcwd(path, sizeof path) ? path[0] : 0;
}
