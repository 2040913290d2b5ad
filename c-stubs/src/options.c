/* getopt, getopt_long and getopt_long_only, as in glibc: options may come after other arguments,
 * which are then moved behind them, unless the list of options starts with + or the environment
 * variable POSIXLY_CORRECT is set. optind 0 restarts the scan. */
#include "stub.h"

STUB char *CRUNNER_optarg;
STUB int CRUNNER_optind = 1, CRUNNER_opterr = 1, CRUNNER_optopt = '?';

int CRUNNER_fputs(const char *restrict text, void *restrict out);
int CRUNNER_fputc(int c, void *out);
extern void *CRUNNER_stderr;
char *CRUNNER_getenv(const char *name);

/* The rest of a group of short options, and the range of other arguments that are to be moved
 * behind the options. */
static char *rest;
static int first_other, last_other;

struct option {
    const char *name;
    int has_arg;
    int *flag;
    int val;
};

static const char *find(const char *list, int c) {
    for (; *list; list++)
        if (*list == c) return list;
    return 0;
}

/* Moves the arguments from `first_other` to `last_other` behind those from there to optind. */
static void exchange(char **argv) {
    for (int i = last_other; i < CRUNNER_optind; i++) {
        char *moved = argv[i];
        for (int j = i; j > first_other + (i - last_other); j--) argv[j] = argv[j - 1];
        argv[first_other + (i - last_other)] = moved;
    }
    first_other += CRUNNER_optind - last_other;
    last_other = CRUNNER_optind;
}

/* Writes one line piece by piece, since a format would have to be parsed first. */
static int complain(const char *list, const char *program, const char *before, const char *name,
                    const char *after) {
    if (!CRUNNER_opterr || *list == ':') return '?';
    CRUNNER_fputs(program, CRUNNER_stderr);
    CRUNNER_fputs(before, CRUNNER_stderr);
    CRUNNER_fputs(name, CRUNNER_stderr);
    CRUNNER_fputs(after, CRUNNER_stderr);
    return '?';
}
static int complain_of(const char *list, const char *program, const char *before, int c) {
    if (!CRUNNER_opterr || *list == ':') return '?';
    CRUNNER_fputs(program, CRUNNER_stderr);
    CRUNNER_fputs(before, CRUNNER_stderr);
    CRUNNER_fputc(c, CRUNNER_stderr);
    CRUNNER_fputs("'\n", CRUNNER_stderr);
    return '?';
}

/* The option that the first n characters of `text` name: the whole name, or an unambiguous
 * prefix. -1: there is none, -2: there are several. */
static int named(const struct option *options, const char *text, size_t n) {
    int found = -1;
    for (int i = 0; options[i].name; i++) {
        size_t at = 0;
        while (at < n && options[i].name[at] == text[at]) at++;
        if (at < n) continue;
        if (!options[i].name[n]) return i;
        if (found >= 0
            && (options[found].has_arg != options[i].has_arg
                || options[found].flag != options[i].flag || options[found].val != options[i].val))
            found = -2;
        else if (found == -1) found = i;
    }
    return found;
}

static int long_option(int argc, char **argv, const char *list, const struct option *options,
                       int *index, char *text, int only) {
    size_t n = 0;
    while (text[n] && text[n] != '=') n++;
    int i = named(options, text, n);
    if (i < 0) {
        /* One dash and not a long option, so this is a group of short options. */
        if (only && argv[CRUNNER_optind][1] != '-' && find(list, *text)) return -2;
        CRUNNER_optind++;
        CRUNNER_optopt = 0;
        return i == -2 ? complain(list, argv[0], ": option '--", text, "' is ambiguous\n")
                       : complain(list, argv[0], ": unrecognized option '--", text, "'\n");
    }
    CRUNNER_optind++;
    CRUNNER_optarg = 0;
    if (text[n]) {
        if (!options[i].has_arg) {
            CRUNNER_optopt = options[i].val;
            return complain(list, argv[0], ": option '--", options[i].name,
                            "' doesn't allow an argument\n");
        }
        CRUNNER_optarg = text + n + 1;
    } else if (options[i].has_arg == 1) {
        if (CRUNNER_optind >= argc) {
            CRUNNER_optopt = options[i].val;
            complain(list, argv[0], ": option '--", options[i].name, "' requires an argument\n");
            return *list == ':' ? ':' : '?';
        }
        CRUNNER_optarg = argv[CRUNNER_optind++];
    }
    if (index) *index = i;
    if (!options[i].flag) return options[i].val;
    *options[i].flag = options[i].val;
    return 0;
}

static int short_option(int argc, char **argv, const char *list) {
    int c = (unsigned char)*rest++;
    const char *known = c == ':' || c == ';' ? 0 : find(list, c);
    if (!*rest) CRUNNER_optind++;
    if (!known) {
        CRUNNER_optopt = c;
        if (!*rest) rest = 0;
        return complain_of(list, argv[0], ": invalid option -- '", c);
    }
    if (known[1] == ':') {
        CRUNNER_optarg = 0;
        if (*rest) {
            CRUNNER_optarg = rest;
            CRUNNER_optind++;
        } else if (known[2] != ':') {
            if (CRUNNER_optind >= argc) {
                CRUNNER_optopt = c;
                complain_of(list, argv[0], ": option requires an argument -- '", c);
                c = *list == ':' ? ':' : '?';
            } else {
                CRUNNER_optarg = argv[CRUNNER_optind++];
            }
        }
        rest = 0;
    } else if (!*rest) {
        rest = 0;
    }
    return c;
}

static int next(int argc, char **argv, const char *list, const struct option *options, int *index,
                int only) {
    int in_order = *list == '+' || CRUNNER_getenv("POSIXLY_CORRECT") != 0, as_ones = *list == '-';
    if (*list == '+' || *list == '-') list++;
    CRUNNER_optarg = 0;
    if (argc < 1) return -1;
    if (CRUNNER_optind == 0) {
        CRUNNER_optind = 1;
        rest = 0;
        first_other = last_other = 1;
    }
    if (!first_other) first_other = last_other = CRUNNER_optind;
    if (rest && *rest) return short_option(argc, argv, list);
    if (last_other > CRUNNER_optind) last_other = CRUNNER_optind;
    if (first_other > CRUNNER_optind) first_other = CRUNNER_optind;
    if (!in_order && !as_ones) {
        if (first_other != last_other && last_other != CRUNNER_optind) exchange(argv);
        else if (last_other != CRUNNER_optind) first_other = CRUNNER_optind;
        while (CRUNNER_optind < argc
               && (argv[CRUNNER_optind][0] != '-' || !argv[CRUNNER_optind][1]))
            CRUNNER_optind++;
        last_other = CRUNNER_optind;
    }
    if (CRUNNER_optind != argc && strcmp(argv[CRUNNER_optind], "--") == 0) {
        CRUNNER_optind++;
        if (first_other != last_other && last_other != CRUNNER_optind) exchange(argv);
        else if (first_other == last_other) first_other = CRUNNER_optind;
        last_other = CRUNNER_optind = argc;
        /* Only other arguments are left. */
        if (first_other != last_other) CRUNNER_optind = first_other;
        return -1;
    }
    if (CRUNNER_optind == argc) {
        if (first_other != last_other) CRUNNER_optind = first_other;
        return -1;
    }
    char *at = argv[CRUNNER_optind];
    if (*at != '-' || !at[1]) {
        if (!as_ones) return -1;
        CRUNNER_optarg = argv[CRUNNER_optind++];
        return 1;
    }
    if (options && (at[1] == '-' || (only && (at[2] || !find(list, at[1]))))) {
        int found = long_option(argc, argv, list, options, index, at + 1 + (at[1] == '-'), only);
        if (found != -2) return found;
    }
    rest = at + 1;
    return short_option(argc, argv, list);
}

STUB int CRUNNER_getopt(int argc, char *const argv[], const char *list) {
    return next(argc, (char **)argv, list, 0, 0, 0);
}
STUB int CRUNNER_getopt_long(int argc, char *const argv[], const char *list,
                             const struct option *options, int *index) {
    return next(argc, (char **)argv, list, options, index, 0);
}
STUB int CRUNNER_getopt_long_only(int argc, char *const argv[], const char *list,
                                  const struct option *options, int *index) {
    return next(argc, (char **)argv, list, options, index, 1);
}
