// world: breaks
// property: memory
// native: alone
// why: behind the options nothing may follow
#include <unistd.h>
int main(int argc, char **argv)
{
    while (getopt(argc, argv, "ab:") != -1)
        ;
    return argv[optind][0];
}
