// world: breaks
// property: memory
// native: ext
// why: an option without an argument leaves optarg NULL
#include <unistd.h>
int main(int argc, char **argv)
{
    if (getopt(argc, argv, "ab:") == -1)
        return 0;
    return optarg[0];
}
