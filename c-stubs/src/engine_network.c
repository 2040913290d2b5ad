/* <arpa/inet.h>: IPv4 addresses and their texts. The texts of IPv6 addresses are not modelled. */
#include "engine.h"

#define IPV4 2  /* AF_INET */
#define IPV6 10 /* AF_INET6 */
enum { NO_SPACE = 28, NO_FAMILY = 97 };

unsigned long NAME(strtoul)(const char *restrict text, char **restrict end, int base);

/* One to four numbers, decimal, octal or hexadecimal. Each but the last is one byte; the last has
 * the remaining bytes. A space may follow, and after it any text. */
int NAME(inet_aton)(const char *text, unsigned char *into) {
    static const unsigned most[4] = {0xffffffffu, 0xffffff, 0xffff, 0xff};
    unsigned char bytes[4] = {0};
    int before = engine_errno;
    for (unsigned part = 0;; part++) {
        char *end;
        if (!engine_is_digit((unsigned char)*text)) return 0;
        unsigned long value = NAME(strtoul)(text, &end, 0);
        engine_errno = before;
        if (value > most[0]) return 0;
        text = end;
        if (*text == '.') {
            if (part == 3 || value > 255) return 0;
            bytes[part] = (unsigned char)value;
            text++;
            continue;
        }
        if ((*text && !engine_is_space((unsigned char)*text)) || value > most[part]) return 0;
        for (unsigned i = 3; i + 1 > part; i--, value >>= 8) bytes[i] = (unsigned char)value;
        if (into) __builtin_memcpy(into, bytes, 4);
        return 1;
    }
}

unsigned NAME(inet_addr)(const char *text) {
    unsigned address;
    return NAME(inet_aton)(text, (unsigned char *)&address) ? address : 0xffffffffu;
}

/* Four decimal numbers without leading zeros, and nothing else. */
static int parse_strictly(const char *text, unsigned char *into) {
    unsigned char bytes[4];
    for (int part = 0; part < 4; part++) {
        unsigned value = 0, digits = 0;
        for (; engine_is_digit((unsigned char)*text); text++, digits++) {
            if (digits > 0 && value == 0) return 0;
            value = value * 10 + (unsigned)(*text - '0');
            if (value > 255) return 0;
        }
        if (!digits || *text != (part < 3 ? '.' : 0)) return 0;
        text++;
        bytes[part] = (unsigned char)value;
    }
    __builtin_memcpy(into, bytes, 4);
    return 1;
}

int NAME(inet_pton)(int family, const char *restrict text, void *restrict into) {
    if (family == IPV4) return parse_strictly(text, into);
    if (family == IPV6) crunner_unmodelled("the text of an address of IPv6");
    engine_errno = NO_FAMILY;
    return -1;
}

const char *NAME(inet_ntop)(int family, const void *restrict from, char *restrict into,
                            unsigned room) {
    const unsigned char *b = from;
    char text[16];
    if (family == IPV6) crunner_unmodelled("the text of an address of IPv6");
    if (family != IPV4) {
        engine_errno = NO_FAMILY;
        return 0;
    }
    unsigned length = 0;
    for (int part = 0; part < 4; part++) {
        if (b[part] > 99) text[length++] = (char)('0' + b[part] / 100);
        if (b[part] > 9) text[length++] = (char)('0' + b[part] / 10 % 10);
        text[length++] = (char)('0' + b[part] % 10);
        text[length++] = part < 3 ? '.' : 0;
    }
    if (length > room) {
        engine_errno = NO_SPACE;
        return 0;
    }
    __builtin_memcpy(into, text, length);
    return into;
}

char *NAME(inet_ntoa)(unsigned address) {
    static char text[16];
    return (char *)NAME(inet_ntop)(IPV4, &address, text, sizeof text);
}
