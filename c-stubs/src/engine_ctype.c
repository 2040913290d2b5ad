/* <ctype.h> in the C locale. glibc's macros read the three tables that the functions below return,
 * at indices -128 to 255. */
#include "engine.h"

/* The bits of glibc's table on a little-endian machine. */
enum {
    UPPER = 1 << 8,
    LOWER = 1 << 9,
    ALPHA = 1 << 10,
    DIGIT = 1 << 11,
    XDIGIT = 1 << 12,
    SPACE = 1 << 13,
    PRINT = 1 << 14,
    GRAPH = 1 << 15,
    BLANK = 1 << 0,
    CNTRL = 1 << 1,
    PUNCT = 1 << 2,
    ALNUM = 1 << 3
};
#define SHOWN (PRINT | GRAPH)
#define LETTER (SHOWN | ALPHA | ALNUM)

static const unsigned short classes[384] = {
    [128 + 0 ... 128 + 8] = CNTRL,
    [128 + '\t'] = CNTRL | SPACE | BLANK,
    [128 + '\n' ... 128 + '\r'] = CNTRL | SPACE,
    [128 + 14 ... 128 + 31] = CNTRL,
    [128 + ' '] = SPACE | BLANK | PRINT,
    [128 + '!' ... 128 + '/'] = SHOWN | PUNCT,
    [128 + '0' ... 128 + '9'] = SHOWN | DIGIT | XDIGIT | ALNUM,
    [128 + ':' ... 128 + '@'] = SHOWN | PUNCT,
    [128 + 'A' ... 128 + 'F'] = LETTER | UPPER | XDIGIT,
    [128 + 'G' ... 128 + 'Z'] = LETTER | UPPER,
    [128 + '[' ... 128 + '`'] = SHOWN | PUNCT,
    [128 + 'a' ... 128 + 'f'] = LETTER | LOWER | XDIGIT,
    [128 + 'g' ... 128 + 'z'] = LETTER | LOWER,
    [128 + '{' ... 128 + '~'] = SHOWN | PUNCT,
    [128 + 127] = CNTRL,
};

#define SAME8(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
#define SAME32(n) SAME8(n), SAME8(n + 8), SAME8(n + 16), SAME8(n + 24)
#define SAME26(n) SAME8(n), SAME8(n + 8), SAME8(n + 16), n + 24, n + 25
#define LOW_HALF \
    SAME32(128), SAME32(160), SAME32(192), SAME8(224), SAME8(232), SAME8(240), 248, 249, 250, 251, \
        252, 253, 254, -1
#define HIGH_HALF SAME32(128), SAME32(160), SAME32(192), SAME32(224)

static const int lower[384] = {
    LOW_HALF, SAME32(0), SAME32(32), '@', SAME26('a'), '[',
    '\\',     ']',       '^',        '_', SAME32(96),  HIGH_HALF,
};
static const int upper[384] = {
    LOW_HALF, SAME32(0), SAME32(32), SAME32(64), '`', SAME26('A'),
    '{',      '|',       '}',        '~',        127, HIGH_HALF,
};

static const unsigned short *classes_at = classes + 128;
static const int *lower_at = lower + 128, *upper_at = upper + 128;

const unsigned short **NAME(__ctype_b_loc)(void) { return &classes_at; }
const int **NAME(__ctype_tolower_loc)(void) { return &lower_at; }
const int **NAME(__ctype_toupper_loc)(void) { return &upper_at; }
size_t NAME(__ctype_get_mb_cur_max)(void) { return 1; }

#define CLASS(name, bit) \
    int NAME(name)(int c) { return classes_at[c] & (bit); }
CLASS(isalnum, ALNUM)
CLASS(isalpha, ALPHA)
CLASS(isblank, BLANK)
CLASS(iscntrl, CNTRL)
CLASS(isdigit, DIGIT)
CLASS(isgraph, GRAPH)
CLASS(islower, LOWER)
CLASS(isprint, PRINT)
CLASS(ispunct, PUNCT)
CLASS(isspace, SPACE)
CLASS(isupper, UPPER)
CLASS(isxdigit, XDIGIT)

int NAME(isascii)(int c) { return (c & ~0x7f) == 0; }
int NAME(toascii)(int c) { return c & 0x7f; }
int NAME(tolower)(int c) { return c >= -128 && c < 256 ? lower_at[c] : c; }
int NAME(toupper)(int c) { return c >= -128 && c < 256 ? upper_at[c] : c; }
