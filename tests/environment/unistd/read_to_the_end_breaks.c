// world: breaks
// property: memory
// native: wrap read
// why: eight bytes may be there, or none and -1
#include <unistd.h>
int main(void)
{
    char text[8];
    long n = read(0, text, 8);
    text[n] = 0;
    return text[0];
}
