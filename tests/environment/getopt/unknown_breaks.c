// world: breaks
// property: assertion
// native: ext
// why: an option that is not listed gives a question mark
#include <assert.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int c = getopt(argc, argv, "ab");
    assert(c == -1 || c == 'a' || c == 'b');
    return 0;
}
