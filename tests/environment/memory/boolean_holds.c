// world: holds
// property: memory
// native: alone
// why: a _Bool that was copied from bytes holds what they hold
#include <string.h>
struct message {
    unsigned char kind;
    _Bool urgent;
};
static int table[2];
int main(void)
{
    const unsigned char bytes[2] = {1, 1};
    struct message message;

    memcpy(&message, bytes, sizeof message);
    return table[message.urgent];
}
