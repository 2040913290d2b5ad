// world: holds
// property: memory
// native: wrap read
// why: asked
#include <unistd.h>
int main(void)
{
    char text[9];
    long n = read(0, text, 8);
    text[n < 0 ? 0 : n] = 0;
    return text[0];
}
