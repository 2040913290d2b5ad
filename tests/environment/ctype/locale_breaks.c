// world: breaks
// property: assertion
// native: wrap isalpha
// assumption: locale
// why: in the user's locale more characters are letters
#include <assert.h>
#include <ctype.h>
#include <locale.h>
int main(void)
{
    setlocale(LC_ALL, "");
    assert(!(isalpha)(0xE4));
    return 0;
}
