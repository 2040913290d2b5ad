// world: holds
// property: memory
// native: wrap read
// why: room for the terminator, and errors are asked for
#include <unistd.h>
int main(void)
{
    char text[9];
    long n = read(0, text, 8);
    if (n < 0)
        return 1;
    text[n] = 0;
    return text[0];
}
