/* A logger that takes anything; the driver divides by what it has just logged. */
extern int log_event(const char *format, ...);
extern unsigned bus_clock(void);

int main(void)
{
    unsigned clock = bus_clock();

    log_event("clock %u at %s\n", clock, "uart");
#ifdef FIXED
    if (!clock)
        return 1;
#endif
    return (int)(48000000u / clock); /* here */
}
