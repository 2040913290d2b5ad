// world: breaks
// property: assertion
// native: ext
// why: optind goes on with each option
#include <assert.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    getopt(argc, argv, "a");
    assert(optind == 1);
    return 0;
}
