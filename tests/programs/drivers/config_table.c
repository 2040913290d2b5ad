/* The firmware hands out a configuration; its index is used before it is checked. */
struct config {
    unsigned short version;
    unsigned char channel;
    unsigned char flags;
};

extern const struct config *firmware_config(void);

static const int rates[4] = {100, 200, 400, 800};

int main(void)
{
    const struct config *config = firmware_config();

    if (!config || config->version != 2)
        return 1;
    if (!(config->flags & 0x10))
        return 2;
#ifdef FIXED
    if (config->channel >= 4)
        return 3;
#endif
    return rates[config->channel]; /* here */
}
