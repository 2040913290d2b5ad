// world: breaks
// property: assertion
// native: ext
// why: a pointer to a row leads to all rows
#include <assert.h>
void clear(int (*rows)[3], int count);
int main(void)
{
    int m[2][3] = {{1, 2, 3}, {4, 5, 6}};
    clear(m, 2);
    assert(m[1][2] == 6);
    return 0;
}
