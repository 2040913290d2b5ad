/* Right only if the device keeps to its manual: a status below eight or an error, and there is always a slot. */
struct slot {
    int uses;
};

extern int status_read(int port);
extern struct slot *slot_find(int status);

static const int weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};

int main(void)
{
    int status = status_read(0);
    struct slot *slot;

    if (status < 0)
        return 1;
    slot = slot_find(status);
    slot->uses = weights[status];
    return 0;
}
