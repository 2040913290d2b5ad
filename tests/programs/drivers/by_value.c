/* A structure that is returned by value: its parts do not fit together. */
struct range {
    int first, last;
};

extern struct range device_range(int device);

int main(void)
{
    struct range range = device_range(1);
    int width;

    if (range.first < 0 || range.last > 1000)
        return 1;
#ifdef FIXED
    if (range.last <= range.first)
        return 2;
#endif
    width = range.last < range.first ? 0 : range.last - range.first;
    return 1000 / width; /* here */
}
