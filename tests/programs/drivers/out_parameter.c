/* The bus says how many bytes there are through a pointer, and may say too many. */
extern int bus_length(int port, unsigned *length);

static unsigned char buffer[32];

int main(void)
{
    unsigned length = 0, i;

    if (bus_length(2, &length) < 0)
        return 1;
#ifdef FIXED
    if (length > sizeof buffer)
        return 2;
#endif
    if (length > 40)
        return 3;
    for (i = 0; i < length; i++)
        buffer[i] = 0xff; /* here */
    return 0;
}
