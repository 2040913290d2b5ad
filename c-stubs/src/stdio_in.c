/* Reading from streams. In CRunner's figure 4, one choice decides about the end of the file and
 * another one about the character. Here a byte encodes both, with an escape for the rare character
 * 0xFF, so that a tape is readable as the text that it stands for. */
#include "allocation.h"
#include "stdio_stub.h"

STUB int CRUNNER_fgetc(stream *in) {
    int c;
    if (in->pushed) return in->pushback[--in->pushed];
    if (!crunner_descriptor_readable(in->fd)) {
        in->flags |= STREAM_ERROR;
        stub_errno = STUB_EBADF;
        return -1;
    }
    crunner_signals_arrive();
    crunner_descriptors_by_stream();
    c = crunner_descriptor_byte(in->fd);
    if (c >= 0) return c;
    /* A stream waits for the rest of its input, so pauses are excluded. */
    crunner_assume(c != INPUT_PAUSES);
    in->flags |= c == INPUT_FAILS ? STREAM_ERROR : STREAM_EOF;
    return -1;
}

STUB int CRUNNER_getc(stream *in) { return CRUNNER_fgetc(in); }
STUB int CRUNNER__IO_getc(stream *in) { return CRUNNER_fgetc(in); }
STUB int CRUNNER_getc_unlocked(stream *in) { return CRUNNER_fgetc(in); }
STUB int CRUNNER_fgetc_unlocked(stream *in) { return CRUNNER_fgetc(in); }
STUB int CRUNNER___uflow(stream *in) { return CRUNNER_fgetc(in); }
STUB int CRUNNER_getchar(void) { return CRUNNER_fgetc(CRUNNER_stdin); }
STUB int CRUNNER_getchar_unlocked(void) { return CRUNNER_fgetc(CRUNNER_stdin); }

STUB int CRUNNER_getw(stream *in) {
    int word;
    unsigned char *bytes = (unsigned char *)&word;
    for (size_t i = 0; i < sizeof word; i++) {
        int c = CRUNNER_fgetc(in);
        if (c < 0) return -1;
        bytes[i] = (unsigned char)c;
    }
    return word;
}

STUB int CRUNNER_ungetc(int c, stream *in) {
    if (c == -1) return -1;
    if (in->pushed == (int)sizeof in->pushback) {
        crunner_unmodelled("more characters pushed back than the model has room for");
        return -1;
    }
    in->pushback[in->pushed++] = (unsigned char)c;
    in->flags &= ~STREAM_EOF;
    return (unsigned char)c;
}

STUB char *CRUNNER_fgets(char *restrict into, int n, stream *restrict in) {
    int at = 0, before = in->flags & STREAM_ERROR;
    if (n <= 0) return 0;
    /* An earlier error does not affect this call, and an error that only asks to try again keeps
     * the characters that were read. */
    in->flags &= ~STREAM_ERROR;
    while (at < n - 1) {
        int c = CRUNNER_fgetc(in);
        if (c < 0) break;
        into[at++] = (char)c;
        if (c == '\n') break;
    }
    int failed = (n > 1 && at == 0) || ((in->flags & STREAM_ERROR) && stub_errno != STUB_EAGAIN);
    in->flags |= before;
    if (failed) return 0;
    into[at] = 0;
    return into;
}
STUB char *CRUNNER_fgets_unlocked(char *restrict into, int n, stream *restrict in) {
    return CRUNNER_fgets(into, n, in);
}
STUB char *CRUNNER___fgets_chk(char *restrict into, size_t room, int n, stream *restrict in) {
    if (n > 0 && (size_t)n > room) ABORTS("buffer overflow detected: fgets");
    return CRUNNER_fgets(into, n, in);
}

STUB char *CRUNNER_gets(char *into) {
    size_t at = 0;
    int c;
    while ((c = CRUNNER_getchar()) >= 0 && c != '\n') into[at++] = (char)c;
    if (c < 0 && at == 0) return 0;
    into[at] = 0;
    return into;
}

STUB size_t CRUNNER_fread(void *restrict into, size_t size, size_t n, stream *restrict in) {
    unsigned char *bytes = into;
    size_t all, at = 0;
    if (__builtin_mul_overflow(size, n, &all)) all = SIZE_MAX;
    for (; at < all; at++) {
        int c = CRUNNER_fgetc(in);
        if (c < 0) break;
        bytes[at] = (unsigned char)c;
    }
    return size ? at / size : 0;
}
STUB size_t CRUNNER_fread_unlocked(void *restrict into, size_t size, size_t n,
                                   stream *restrict in) {
    return CRUNNER_fread(into, size, n, in);
}
STUB size_t CRUNNER___fread_chk(void *restrict into, size_t room, size_t size, size_t n,
                                stream *restrict in) {
    size_t all;
    if (__builtin_mul_overflow(size, n, &all) || all > room)
        ABORTS("buffer overflow detected: fread");
    return CRUNNER_fread(into, size, n, in);
}

STUB long CRUNNER_getdelim(char **restrict line, size_t *restrict room, int delimiter,
                           stream *restrict in) {
    size_t at = 0;
    if (!line || !room) {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    /* As in glibc, the buffer is allocated before a character is read. */
    if (!*line || !*room) {
        char *first = crunner_granted_realloc(*line, 120);
        if (!first) return -1;
        *line = first;
        *room = 120;
    }
    for (;;) {
        int c = CRUNNER_fgetc(in);
        if (c < 0 && at == 0) return -1;
        if (at + 2 > *room) {
            size_t wanted = *room * 2;
            if (wanted < at + 2) wanted = at + 2;
            char *bigger = crunner_granted_realloc(*line, wanted);
            if (!bigger) {
                in->flags |= STREAM_ERROR;
                return -1;
            }
            *line = bigger;
            *room = wanted;
        }
        if (c < 0) break;
        (*line)[at++] = (char)c;
        if (c == delimiter) break;
    }
    (*line)[at] = 0;
    return (long)at;
}
STUB long CRUNNER_getline(char **restrict line, size_t *restrict room, stream *restrict in) {
    return CRUNNER_getdelim(line, room, '\n', in);
}
STUB long CRUNNER___getdelim(char **restrict line, size_t *restrict room, int delimiter,
                             stream *restrict in) {
    return CRUNNER_getdelim(line, room, delimiter, in);
}
