// world: holds
// property: memory
// native: none (the C library and the kernel read there without a look by the sanitizer)
// why: the name of a locale is a string
#include <locale.h>
int main(void)
{
    char name[3] = {'d', 'e', 0};
    return setlocale(LC_ALL, name) != 0;
}
