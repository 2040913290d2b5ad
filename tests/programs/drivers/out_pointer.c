/* A function that fails leaves the pointer alone that it was to set. */
struct clock {
    unsigned rate;
};

extern int clock_get(const char *name, struct clock **clock);

int main(void)
{
    struct clock *clock = 0;
    int result = clock_get("uart", &clock);

#ifdef FIXED
    if (result != 0 || !clock)
        return 1;
#else
    if (result < 0)
        return 1;
#endif
    return clock->rate > 1000; /* here */
}
