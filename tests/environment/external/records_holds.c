// world: holds
// property: memory
// native: ext
// why: the number is checked where it is used
struct entry {
    unsigned short id;
    unsigned char kind;
};
int query(struct entry *all, int most);
static int kinds[5];
int main(void)
{
    struct entry all[3] = {{0, 0}, {0, 0}, {0, 0}};
    query(all, 3);
    return all[2].kind < 5 ? kinds[all[2].kind] : 0;
}
