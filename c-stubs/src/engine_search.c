/* <string.h>: searching and splitting strings. */
#include "engine.h"

int NAME(strncmp)(const char *a, const char *b, size_t n);
int NAME(strncasecmp)(const char *a, const char *b, size_t n);

char *NAME(strchr)(const char *s, int c) {
    for (;; s++) {
        if (*s == (char)c) return (char *)s;
        if (!*s) return 0;
    }
}
char *NAME(index)(const char *s, int c) { return NAME(strchr)(s, c); }

char *NAME(strchrnul)(const char *s, int c) {
    while (*s && *s != (char)c) s++;
    return (char *)s;
}

char *NAME(strrchr)(const char *s, int c) {
    const char *last = 0;
    for (;; s++) {
        if (*s == (char)c) last = s;
        if (!*s) return (char *)last;
    }
}
char *NAME(rindex)(const char *s, int c) { return NAME(strrchr)(s, c); }

char *NAME(strstr)(const char *s, const char *wanted) {
    size_t n = NAME(strlen)(wanted);
    if (!n) return (char *)s;
    for (; *s; s++)
        if (NAME(strncmp)(s, wanted, n) == 0) return (char *)s;
    return 0;
}

char *NAME(strcasestr)(const char *s, const char *wanted) {
    size_t n = NAME(strlen)(wanted);
    if (!n) return (char *)s;
    for (; *s; s++)
        if (NAME(strncasecmp)(s, wanted, n) == 0) return (char *)s;
    return 0;
}

char *NAME(strnstr)(const char *s, const char *wanted, size_t most) {
    size_t n = NAME(strlen)(wanted);
    if (!n) return (char *)s;
    for (; most >= n && *s; s++, most--)
        if (NAME(strncmp)(s, wanted, n) == 0) return (char *)s;
    return 0;
}

static int among(char c, const char *set) {
    for (; *set; set++)
        if (*set == c) return 1;
    return 0;
}

size_t NAME(strspn)(const char *s, const char *set) {
    size_t n = 0;
    while (s[n] && among(s[n], set)) n++;
    return n;
}

size_t NAME(strcspn)(const char *s, const char *set) {
    size_t n = 0;
    while (s[n] && !among(s[n], set)) n++;
    return n;
}

char *NAME(strpbrk)(const char *s, const char *set) {
    s += NAME(strcspn)(s, set);
    return *s ? (char *)s : 0;
}

char *NAME(strtok_r)(char *restrict s, const char *restrict set, char **restrict rest) {
    if (!s) s = *rest;
    s += NAME(strspn)(s, set);
    if (!*s) {
        *rest = s;
        return 0;
    }
    char *end = s + NAME(strcspn)(s, set);
    if (*end) *end++ = 0;
    *rest = end;
    return s;
}
char *NAME(__strtok_r)(char *restrict s, const char *restrict set, char **restrict rest) {
    return NAME(strtok_r)(s, set, rest);
}

static char *token_rest;
char *NAME(strtok)(char *restrict s, const char *restrict set) {
    return NAME(strtok_r)(s, set, &token_rest);
}

char *NAME(strsep)(char **restrict from, const char *restrict set) {
    char *start = *from, *end;
    if (!start) return 0;
    end = start + NAME(strcspn)(start, set);
    if (*end) {
        *end = 0;
        *from = end + 1;
    } else {
        *from = 0;
    }
    return start;
}

char *NAME(basename)(const char *path) {
    char *slash = NAME(strrchr)(path, '/');
    return slash ? slash + 1 : (char *)path;
}

/* <libgen.h>: both functions may shorten the path that they are given, and return "." if there is
 * no component. */
static const char here[] = ".";

char *NAME(__xpg_basename)(char *path) {
    if (!path || !*path) return (char *)here;
    size_t length = NAME(strlen)(path), end = length, start;
    while (end > 0 && path[end - 1] == '/') end--;
    if (!end) return path + length - 1;
    if (path[end]) path[end] = 0;
    for (start = end; start > 0 && path[start - 1] != '/';) start--;
    return path + start;
}

char *NAME(dirname)(char *path) {
    if (!path) return (char *)here;
    size_t end = NAME(strlen)(path), root;
    while (end > 0 && path[end - 1] == '/') end--;
    while (end > 0 && path[end - 1] != '/') end--;
    /* The remaining text ends with the slashes before the last component, unless the path consists
     * only of slashes. */
    if (!end && *path != '/') return (char *)here;
    root = end ? end : NAME(strlen)(path);
    while (end > 0 && path[end - 1] == '/') end--;
    /* Two slashes at the beginning differ in meaning from one slash and from three. */
    path[end ? end : root == 2 ? 2 : 1] = 0;
    return path;
}
