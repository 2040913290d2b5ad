// world: holds
// property: memory
// native: alone
// why: counted
#include <unistd.h>
int main(int argc, char **argv)
{
    while (getopt(argc, argv, "ab:") != -1)
        ;
    return optind < argc ? argv[optind][0] : 0;
}
