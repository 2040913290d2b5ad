// world: holds
// property: assertion
// native: ext
// why: a copy of the first row is handed over
#include <assert.h>
#include <string.h>
void clear(int (*rows)[3], int count);
int main(void)
{
    int m[2][3] = {{1, 2, 3}, {4, 5, 6}};
    int row[1][3];
    memcpy(row[0], m[0], sizeof row[0]);
    clear(row, 1);
    assert(m[1][2] == 6);
    return 0;
}
