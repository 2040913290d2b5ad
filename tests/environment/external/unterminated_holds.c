// world: holds
// property: memory
// native: ext
// why: the terminator is put there afterwards
#include <string.h>
void host_name(char *into, size_t n);
int main(void)
{
    char name[8] = "";
    host_name(name, sizeof name);
    name[sizeof name - 1] = 0;
    return (int)strlen(name);
}
