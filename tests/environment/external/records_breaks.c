// world: breaks
// property: memory
// native: ext
// why: each record of an array is written
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
    return kinds[all[2].kind];
}
