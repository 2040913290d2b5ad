/* The driver for programs with a main(). By default it gets no argument beyond the program's name; with -DCRUNNER_ARGV=n up to
 * n more: how many is a byte of channel "argc", each is a string of channel "argv:i". That there are no more is the narrowing
 * "arguments" of a main() that reads any.
 *
 * Each of the first numbers of arguments has a call of its own: there the number is a constant, and which elements of argv hold
 * strings needs no fact about all elements below a variable. */
#include "stub.h"

int cegar_user_main(int argc, char **argv, char **envp);

#ifndef CRUNNER_ARGV
#define CRUNNER_ARGV 0
#endif

static char program_name[] = "program";
static char *arguments[CRUNNER_ARGV + 2];
static char *environment[1];

#if CRUNNER_ARGV > 0
static char *argument(int i) {
    char channel[16] = "argv:";
    int at = 5;
    if (i >= 100) channel[at++] = (char)('0' + i / 100 % 10);
    if (i >= 10) channel[at++] = (char)('0' + i / 10 % 10);
    channel[at++] = (char)('0' + i % 10);
    channel[at] = 0;
    return crunner_lend_string(channel);
}
#endif

static void run(int argc) { crunner_finish(cegar_user_main(argc, arguments, environment) & 0xff); }

void cegar_entry(void) {
#ifdef CRUNNER_TAKES_ARGUMENTS
    if (!crunner_assumed("arguments")) crunner_unmodelled("more arguments than the harness has");
#endif
    arguments[0] = program_name;
#if CRUNNER_ARGV > 0
    int more = crunner_choose_byte("argc") % (CRUNNER_ARGV + 1);
    if (more < 1 || !(arguments[1] = argument(1))) run(1);
#if CRUNNER_ARGV > 1
    if (more < 2 || !(arguments[2] = argument(2))) run(2);
#endif
#if CRUNNER_ARGV > 2
    if (more < 3 || !(arguments[3] = argument(3))) run(3);
#endif
#if CRUNNER_ARGV > 3
    int argc = 4;
    while (argc <= more && (arguments[argc] = argument(argc))) argc++;
    run(argc);
#else
    run(CRUNNER_ARGV + 1);
#endif
#else
    run(1);
#endif
}
