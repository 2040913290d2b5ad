// world: breaks
// property: memory
// native: ext
// why: all bytes of the buffer may be written without a zero among them
#include <string.h>
void host_name(char *into, size_t n);
int main(void)
{
    char name[8] = "";
    host_name(name, sizeof name);
    return (int)strlen(name);
}
