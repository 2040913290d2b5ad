// world: holds
// property: assertion
// native: ext
// why: it starts there
#include <assert.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    assert(optind == 1);
    getopt(argc, argv, "a");
    return 0;
}
