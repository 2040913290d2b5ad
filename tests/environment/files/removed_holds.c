// world: holds
// property: memory
// native: alone
// why: both answers are thought of
#include <stdio.h>
static int answers[2];
int main(void)
{
    return answers[remove("/nowhere/to/be/found") != 0];
}
