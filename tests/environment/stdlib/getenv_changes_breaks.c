// world: breaks
// property: memory
// native: ext
// assumption: external-library
// why: another file may unset the variable
#include <stdlib.h>
void step(void);
int main(void)
{
    if (!getenv("PAIRS_MODE"))
        return 0;
    step();
    return getenv("PAIRS_MODE")[0];
}
