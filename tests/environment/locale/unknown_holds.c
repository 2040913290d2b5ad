// world: holds
// property: memory
// native: ext
// why: asked
#include <locale.h>
int main(void)
{
    const char *name = setlocale(LC_ALL, "");
    return name ? name[0] : 0;
}
