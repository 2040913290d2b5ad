// world: holds
// property: assertion
// native: ext
// why: the array that is handed over is another one
#include <assert.h>
void touch(int *element);
int main(void)
{
    int x[4] = {0}, y[4] = {0};
    touch(&y[2]);
    assert(x[0] == 0);
    return y[0] & 1;
}
