/* An ioctl's number comes from outside, and so does its argument. */
#include <stdint.h>

extern uint32_t ioctl_command(void);
extern int32_t ioctl_argument(void);

#define GET_SPEED 0x4801u
#define SET_SPEED 0x4802u
#define GET_AVERAGE 0x4803u

static int32_t speed = 9600, total = 1, samples;

static int dispatch(uint32_t command, int32_t argument)
{
    switch (command) {
    case GET_SPEED:
        return speed;
    case SET_SPEED:
        if (argument <= 0)
            return -22;
        speed = argument;
        total = argument;
        samples = 1;
        return 0;
    case GET_AVERAGE:
#ifdef FIXED
        if (samples == 0)
            return -61;
#endif
        return total / samples; /* here */
    default:
        return -25;
    }
}

int main(void)
{
    int result = dispatch(ioctl_command(), ioctl_argument());

    if (result < 0)
        return 1;
    return dispatch(ioctl_command(), ioctl_argument()) < 0;
}
