/* An interrupt handler gets a status word and looks up a channel. */
extern int irq_request(int line, int (*handler)(int line, unsigned status));

static int counts[8];

static int handler(int line, unsigned status)
{
    unsigned channel = status >> 28;

    if (line != 5)
        return 0;
#ifdef FIXED
    if (channel >= 8)
        return 0;
#endif
    counts[channel]++; /* here */
    return 1;
}

int main(void)
{
    return irq_request(5, handler) < 0;
}
