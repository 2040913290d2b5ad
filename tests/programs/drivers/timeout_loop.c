/* A device that is never ready: the retry counter leaves its table of delays. */
extern int device_status(void);

static const int delays[4] = {1, 2, 4, 8};

int main(void)
{
    int tries = 0, waited = 0;

    while (!(device_status() & 0x80)) {
        waited += delays[tries]; /* here */
        tries++;
#ifdef FIXED
        if (tries == 4)
            return 1;
#else
        if (tries == 6)
            return 1;
#endif
    }
    return waited > 100;
}
