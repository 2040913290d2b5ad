// world: breaks
// property: memory
// native: alone
// assumption: booleans
// why: a _Bool that was copied from bytes holds what they hold, and gcc takes all of it for an index
#include <string.h>
struct message {
    unsigned char kind;
    _Bool urgent;
};
static int table[2];
int main(void)
{
    const unsigned char bytes[2] = {1, 2};
    struct message message;

    memcpy(&message, bytes, sizeof message);
    return table[message.urgent];
}
