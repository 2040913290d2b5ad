/* Operations that a registry hands out: an optional one is called without a look. */
struct ops {
    int (*open)(int minor);
    int (*flush)(void);
};

extern const struct ops *registry_find(unsigned id);

int main(void)
{
    const struct ops *ops = registry_find(9);

    if (!ops || !ops->open)
        return 1;
    if (ops->open(3) < 0)
        return 2;
#ifdef FIXED
    if (!ops->flush)
        return 0;
#endif
    return ops->flush(); /* here */
}
