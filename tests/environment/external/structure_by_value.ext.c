struct view {
    int *data;
    unsigned count;
};
struct triple {
    int data[3];
};
void scale(struct view v) { v.data[v.count - 1] *= 2; }
void scale_copy(struct triple t) { t.data[2] *= 2; }
