/* Which requests the system refuses: a full disk, a broken cable, an interrupting signal.
 *
 * Every system call of a program can fail, and can do less than was requested. Each such call reads
 * one byte of a channel of its name. Only bytes from 128 on are faults, so that text, and a tape
 * that ends early, mean that calls succeed: searches for ordinary bugs find those first. The byte
 * contains the error number itself, so that a test can name it. Input streams contain their faults,
 * so that a tape stays readable as the text that it stands for: after the escape 0xFF, a 1 is an
 * error (whose number follows), and a 2 means that the rest arrives later. */
#include "stub.h"

/* The error that a byte of this channel chooses, if it is one of the given errors; errno is set to
 * it. 0 if the call succeeds. */
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

/* All output has one channel, since compilers may replace a printf() by a puts(). */
STUB int crunner_output_fails(void) {
    crunner_signals_arrive();
    if (crunner_assumed("output")) return 0;
    if (chosen("output", E(EIO) | E(ENOSPC) | E(EPIPE) | E(EAGAIN) | E(EINTR) | E(EFBIG), 0))
        return 1;
    /* A call that succeeds may change errno nevertheless (C 7.5). */
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
    /* A test must not have different meanings with and without the narrowing "io", so the run is
     * rejected with it. */
    if (crunner_assumed("io")) crunner_assume(0);
    if (c == 2) return INPUT_PAUSES;
    crunner_choose(channel, &c, 1);
    stub_errno = c == STUB_EINTR || c == STUB_EAGAIN ? c : STUB_EIO;
    return INPUT_FAILS;
}
