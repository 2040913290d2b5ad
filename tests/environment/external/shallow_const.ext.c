struct box {
    int *value;
};
struct look {
    const int *value;
};
void show(const struct box *b) { *b->value = 1; }
void read_only(const struct look *b) { (void)*b->value; }
