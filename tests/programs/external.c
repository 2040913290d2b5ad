/* A sensor that nobody defines: it may answer anything. */
extern int sensor_read(int channel);

static const int table[8] = {1, 2, 4, 8, 16, 32, 64, 128};

int main(void)
{
    int value = sensor_read(3);

    if (value < 100)
        return 1;
#ifdef FIXED
    if (value >= 180)
        return 1;
#endif
    return table[(value - 100) / 10] == 64; /* here */
}
