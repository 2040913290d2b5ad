/* What the system may refuse, and when: a full disk, a broken cable, a signal in between.
 *
 * Whatever a program asks of the system can fail, and can do less than was asked for. Each such
 * call takes one byte of a channel of its name. Only bytes from 128 on are faults, so that text,
 * and a tape that ends early, are a world in which things go well: whoever looks for plain bugs
 * finds those first. The byte holds the error's number itself, which is how a test can name it.
 * Input streams carry their faults within them, so that a tape stays readable as the text that it
 * stands for: after the escape 0xFF, a 1 is an error (whose number follows), and a 2 says that the
 * rest comes later.
 */
#include "stub.h"

/* The error that a byte of this channel chooses, if it is one of these, which is errno then; 0 if
 * all goes well. */
static int chosen(const char *channel, unsigned long long low, unsigned long long high) {
    unsigned char chosen = crunner_choose_byte(channel);
    unsigned error = chosen & 127;
    if (chosen < 128 || !((error < 64 ? low : high) >> (error & 63) & 1)) return 0;
    if (!error) return FAULT_SHORT;
    stub_errno = (int)error;
    return (int)error;
}

STUB int crunner_fault(const char *channel, unsigned long long low, unsigned long long high) {
    crunner_signals_arrive();
    if (crunner_assumed("io")) return 0;
    return chosen(channel, low, high);
}

/* One channel, because compilers take the liberty of making a puts() of a printf(). */
STUB int crunner_output_fails(void) {
    crunner_signals_arrive();
    if (crunner_assumed("output")) return 0;
    if (chosen("output", E(EIO) | E(ENOSPC) | E(EPIPE) | E(EAGAIN) | E(EINTR) | E(EFBIG), 0))
        return 1;
    /* What succeeds may set errno all the same (C 7.5). */
    unsigned char left = crunner_choose_byte("output:errno");
    if (left && left < 128) stub_errno = left;
    return 0;
}

STUB int crunner_input_byte(const char *channel) {
    unsigned char c;
    if (!crunner_remaining(channel)) return -1;
    crunner_choose(channel, &c, 1);
    if (c != 0xFF) return c;
    crunner_choose(channel, &c, 1);
    if (c == 0) return -1;
    if (c > 2) return 0xFF;
    /* Nothing that a test says may mean one thing in a wide world and another in a narrow one. */
    if (crunner_assumed("io")) crunner_assume(0);
    if (c == 2) return INPUT_PAUSES;
    crunner_choose(channel, &c, 1);
    stub_errno = c == STUB_EINTR || c == STUB_EAGAIN ? c : STUB_EIO;
    return INPUT_FAILS;
}
