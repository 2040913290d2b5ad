// world: breaks
// property: memory
// native: wrap getpid
// assumption: identity
// why: process numbers go up to four million
#include <unistd.h>
static int seen[32768];
int main(void)
{
    return seen[getpid()];
}
