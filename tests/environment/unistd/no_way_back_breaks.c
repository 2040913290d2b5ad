// world: breaks
// property: assertion
// native: alone
// assumption: io files devices
// why: input from a terminal or a pipe cannot be rewound
#include <assert.h>
#include <unistd.h>
int main(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 0;
    assert(lseek(ends[0], 0, SEEK_SET) == 0);
    return 0;
}
