// world: breaks
// property: memory
// native: alone
// why: the path of the folder may not fit, then getcwd answers NULL
#include <unistd.h>
int main(void)
{
    char path[4];
    return getcwd(path, sizeof path)[0];
}
