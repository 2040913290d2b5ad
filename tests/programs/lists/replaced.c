/* A text that is replaced again and again. Wrong: where there is no new one the old one is released and kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct user {
    char *name;
    unsigned changes;
};

static int rename_user(struct user *user, const char *name) {
#ifdef FIXED
    char *copy = strdup(name);
    if (!copy) return -1;
    free(user->name);
#else
    free(user->name);
    if (!*name) return -1;
    char *copy = strdup(name);
    if (!copy) return -1;
#endif
    user->name = copy;
    user->changes++;
    return 0;
}

int main(void) {
    struct user user = {NULL, 0};
    char line[24];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        rename_user(&user, line);
    }
    free(user.name);
    return 0;
}
