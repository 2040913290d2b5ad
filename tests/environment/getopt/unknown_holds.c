// world: holds
// property: assertion
// native: ext
// why: thought of
#include <assert.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int c = getopt(argc, argv, "ab");
    assert(c == -1 || c == 'a' || c == 'b' || c == '?');
    return 0;
}
