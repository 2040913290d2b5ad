// world: holds
// property: memory
// native: ext
// why: the one with a colon has one
#include <unistd.h>
int main(int argc, char **argv)
{
    if (getopt(argc, argv, "ab:") != 'b')
        return 0;
    return optarg[0];
}
