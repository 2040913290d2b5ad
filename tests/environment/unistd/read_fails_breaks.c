// world: breaks
// property: memory
// native: wrap read
// assumption: io
// why: -1 is an answer
#include <unistd.h>
int main(void)
{
    char text[9];
    long n = read(0, text, 8);
    text[n] = 0;
    return text[0];
}
