// world: breaks
// property: memory
// native: ext
// assumption: locale
// why: a locale that is not installed gives NULL
#include <locale.h>
int main(void)
{
    return setlocale(LC_ALL, "")[0];
}
