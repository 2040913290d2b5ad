// world: holds
// property: memory
// native: wrap write
// options: --faults all
// why: every answer is an index
#include <unistd.h>
static int answers[5];
int main(void)
{
    return answers[write(1, "abc", 3) + 1];
}
