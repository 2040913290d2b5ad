/* The driver for programs with a main(). By default, main() gets no arguments beyond the program's
 * name; with -DCRUNNER_ARGV=n it gets up to n more. Their number is a byte of channel "argc", and
 * each is a string of channel "argv:i". That there are no further arguments is the narrowing
 * "arguments", for a main() that reads any.
 *
 * Each small number of arguments has a separate call of main(). There the number is a constant, so
 * that no fact about all elements of argv below a variable index is needed. */
#include "stub.h"

int cegar_user_main(int argc, char **argv, char **envp);

#ifndef CRUNNER_ARGV
#define CRUNNER_ARGV 0
#endif

static char program_name[] = "program";
static char *arguments[CRUNNER_ARGV + 2];
static char *environment[1];

#if CRUNNER_ARGV > 0
/* A string of exactly its size in the frame of cegar_entry, which does not return while the program
 * runs. Passing it to free() is an error. */
#define ARGUMENT(i, channel) \
    { \
        size_t n = crunner_read_string(channel, text, sizeof text); \
        arguments[i] = __builtin_memcpy(__builtin_alloca(n + 1), text, n + 1); \
    }
#endif

#if CRUNNER_ARGV > 3
static const char *channel_of(int i) {
    static char channel[16] = "argv:";
    int at = 5;
    if (i >= 100) channel[at++] = (char)('0' + i / 100 % 10);
    if (i >= 10) channel[at++] = (char)('0' + i / 10 % 10);
    channel[at++] = (char)('0' + i % 10);
    channel[at] = 0;
    return channel;
}
#endif

static _Noreturn void run(int argc) {
    crunner_finish(cegar_user_main(argc, arguments, environment) & 0xff);
}

void cegar_entry(void) {
#ifdef CRUNNER_TAKES_ARGUMENTS
    if (!crunner_assumed("arguments") && (crunner_choose_byte("more-arguments") & 1))
        crunner_unmodelled("more arguments than the harness has, or none");
#endif
    arguments[0] = program_name;
#if CRUNNER_ARGV > 0
    char text[LONGEST_ARGUMENT];
    int more = crunner_choose_byte("argc") % (CRUNNER_ARGV + 1);
    if (more < 1) run(1);
    ARGUMENT(1, "argv:1")
#if CRUNNER_ARGV > 1
    if (more < 2) run(2);
    ARGUMENT(2, "argv:2")
#endif
#if CRUNNER_ARGV > 2
    if (more < 3) run(3);
    ARGUMENT(3, "argv:3")
#endif
#if CRUNNER_ARGV > 3
    for (int i = 4; i <= more; i++) ARGUMENT(i, channel_of(i))
#endif
    run(more + 1);
#else
    run(1);
#endif
}
