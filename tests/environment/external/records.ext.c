struct entry {
    unsigned short id;
    unsigned char kind;
};
int query(struct entry *all, int most)
{
    all[most - 1].kind = 200;
    return most;
}
