/* Environment variables. The first getenv() of a name is a choice: a presence byte of channel
 * "env:NAME", then a string. The answer is stored, so that later calls return the same; setenv()
 * and its siblings override it. */
#include "stub.h"

struct variable {
    struct variable *next;
    char *name, *value; /* value NULL: not set */
    int lent;           /* the value was passed to putenv() and belongs to the program */
};

static struct variable *variables;
static char *no_environment[1];
STUB char **CRUNNER_environ = no_environment;
STUB char **CRUNNER___environ = no_environment;
STUB char **CRUNNER__environ = no_environment;

/* The program's name, as passed to main(). */
static char name_of_program[] = "program";
STUB char *CRUNNER_program_invocation_name = name_of_program;
STUB char *CRUNNER_program_invocation_short_name = name_of_program;
STUB char *CRUNNER___progname = name_of_program;
STUB char *CRUNNER___progname_full = name_of_program;

static void forget(struct variable *v) {
    if (!v->lent) free(v->value);
    v->value = 0;
    v->lent = 0;
}

static void release(void) {
    while (variables) {
        struct variable *v = variables;
        variables = v->next;
        free(v->name);
        forget(v);
        free(v);
    }
}

static struct variable *find(const char *name) {
    for (struct variable *v = variables; v; v = v->next)
        if (strcmp(v->name, name) == 0) return v;
    return 0;
}

static struct variable *add(const char *name, size_t length) {
    struct variable *v = calloc(1, sizeof *v);
    if (!v) return 0;
    v->name = malloc(length + 1);
    if (!v->name) {
        free(v);
        return 0;
    }
    memcpy(v->name, name, length);
    v->name[length] = 0;
    if (!variables) crunner_at_end(release);
    v->next = variables;
    variables = v;
    return v;
}

/* Whether clearenv() was called. Variables that were not asked for before are then unset. */
static int cleared;

STUB char *CRUNNER_getenv(const char *name) {
    struct variable *v = find(name);
    if (v) return v->value;
    if (cleared) return 0;
    char *channel = crunner_channel("env:", name);
    v = add(name, strlen(name));
    if (v && channel && (crunner_choose_byte(channel) & 1))
        v->value = crunner_choose_string(channel);
    free(channel);
    return v ? v->value : 0;
}
STUB char *CRUNNER_secure_getenv(const char *name) {
    /* A process with more rights than its user has no environment. */
    static int asked, is_refused;
    if (!asked && !crunner_assumed("identity"))
        is_refused = crunner_choose_byte("secure_getenv") & 1;
    asked = 1;
    return is_refused ? 0 : CRUNNER_getenv(name);
}
STUB char *CRUNNER___secure_getenv(const char *name) { return CRUNNER_secure_getenv(name); }

static int valid(const char *name) {
    if (!name || !*name) return 0;
    for (; *name; name++)
        if (*name == '=') return 0;
    return 1;
}

static struct variable *find_or_add(const char *name) {
    struct variable *v = find(name);
    return v ? v : add(name, strlen(name));
}

/* Whether there is no memory for a variable. */
static int refused(void) {
    return !crunner_assumed("alloc") && (crunner_choose_byte("setenv") & 1);
}

STUB int CRUNNER_setenv(const char *name, const char *value, int overwrite) {
    if (!valid(name)) {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    if (!overwrite && CRUNNER_getenv(name)) return 0;
    if (refused()) {
        stub_errno = STUB_ENOMEM;
        return -1;
    }
    struct variable *v = find_or_add(name);
    char *copy = crunner_channel("", value);
    if (!v || !copy) {
        free(copy);
        stub_errno = STUB_ENOMEM;
        return -1;
    }
    forget(v);
    v->value = copy;
    return 0;
}

STUB int CRUNNER_unsetenv(const char *name) {
    if (!valid(name)) {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    struct variable *v = find_or_add(name);
    if (!v) return -1;
    forget(v);
    return 0;
}

/* The string itself becomes part of the environment: a program that changes it in place changes the
 * variable's value (its name is copied). */
STUB int CRUNNER_putenv(char *text) {
    size_t n = 0;
    while (text[n] && text[n] != '=') n++;
    char *name = malloc(n + 1);
    if (!name) return -1;
    memcpy(name, text, n);
    name[n] = 0;
    int result = 0;
    if (text[n]) {
        struct variable *v = find(name);
        if (!v && !refused()) v = add(name, n);
        if (v) {
            forget(v);
            v->value = text + n + 1;
            v->lent = 1;
        } else {
            stub_errno = STUB_ENOMEM;
            result = -1;
        }
    } else if (n) {
        result = CRUNNER_unsetenv(name);
    }
    free(name);
    return result;
}

STUB int CRUNNER_clearenv(void) {
    for (struct variable *v = variables; v; v = v->next) forget(v);
    cleared = 1;
    return 0;
}
