/* Writing to streams. Nothing reaches the outside: output goes to the run's transcript and, for a
 * file, into the file. (CRunner, section 2: "the output data is simply discarded"; it is recorded
 * here, since tests show it.) Formatting uses vsnprintf: the platform's natively, the engine's own
 * in the engine. */
#include "stdio_stub.h"

/* Whether the output fails, for lack of space, a reader or time. */
static int refused(stream *out) {
    if (!crunner_output_fails()) return 0;
    out->flags |= STREAM_ERROR;
    return 1;
}

STUB int crunner_stream_write(stream *out, const void *bytes, size_t n) {
    if (!crunner_descriptor_writable(out->fd)) {
        out->flags |= STREAM_ERROR;
        stub_errno = STUB_EBADF;
        return 0;
    }
    crunner_descriptors_by_stream();
    crunner_stream_buffer(out);
    if (n && !crunner_descriptor_write(out->fd, bytes, n)) {
        out->flags |= STREAM_ERROR;
        return 0;
    }
    return 1;
}

/* The room for a line of n characters: the buffer, or a heap block, which is NULL if there is no
 * memory. */
STUB char *crunner_line_room(char *buffer, size_t room, int n) {
    return n < 0 || (size_t)n < room ? buffer : malloc((size_t)n + 1);
}

/* Writes a line and releases its room. Returns what vfprintf returns. */
STUB int crunner_line_out(stream *out, char *buffer, char *text, int n) {
    if (!text) return -1;
    if (n >= 0 && (refused(out) || !crunner_stream_write(out, text, (size_t)n))) n = -1;
    if (text != buffer) free(text);
    return n;
}

/* Formats into a heap block if the line is long; `*text` is the given buffer or that block. */
static int format_line(char **text, char *buffer, size_t room, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(buffer, room, format, args);
    *text = crunner_line_room(buffer, room, n);
    if (*text && *text != buffer) vsnprintf(*text, (size_t)n + 1, format, again);
    va_end(again);
    return *text ? n : -1;
}

STUB int CRUNNER_vfprintf(stream *restrict out, const char *restrict format, va_list args) {
    char buffer[512], *text;
    int n = format_line(&text, buffer, sizeof buffer, format, args);
    return crunner_line_out(out, buffer, text, n);
}

STUB int CRUNNER_vprintf(const char *restrict format, va_list args) {
    return CRUNNER_vfprintf(CRUNNER_stdout, format, args);
}

STUB int CRUNNER_vdprintf(int fd, const char *restrict format, va_list args) {
    char buffer[512], *text;
    if (!crunner_descriptor_writable(fd)) {
        stub_errno = STUB_EBADF;
        return -1;
    }
    int n = format_line(&text, buffer, sizeof buffer, format, args);
    if (n > 0
        && (crunner_output_fails()
            || !crunner_descriptor_write(fd, (unsigned char *)text, (size_t)n)))
        n = -1;
    if (text != buffer) free(text);
    return n;
}

#define FORWARD(call) \
    { \
        va_list args; \
        va_start(args, format); \
        int n = call; \
        va_end(args); \
        return n; \
    }

STUB int CRUNNER_printf(const char *restrict format, ...)
    FORWARD(CRUNNER_vprintf(format, args)) STUB
    int CRUNNER_fprintf(stream *restrict out, const char *restrict format, ...)
        FORWARD(CRUNNER_vfprintf(out, format, args)) STUB
    int CRUNNER_dprintf(int fd, const char *restrict format, ...)
        FORWARD(CRUNNER_vdprintf(fd, format, args)) STUB
    int CRUNNER___printf_chk(int flag, const char *restrict format, ...)
        FORWARD(CRUNNER_vprintf(format, args)) STUB
    int CRUNNER___fprintf_chk(stream *restrict out, int flag, const char *restrict format, ...)
        FORWARD(CRUNNER_vfprintf(out, format, args)) STUB
    int CRUNNER___dprintf_chk(int fd, int flag, const char *restrict format, ...)
        FORWARD(CRUNNER_vdprintf(fd, format, args)) STUB
    int CRUNNER___vprintf_chk(int flag, const char *restrict format, va_list args) {
    return CRUNNER_vprintf(format, args);
}
STUB int CRUNNER___vfprintf_chk(stream *restrict out, int flag, const char *restrict format,
                                va_list args) {
    return CRUNNER_vfprintf(out, format, args);
}
STUB int CRUNNER___vdprintf_chk(int fd, int flag, const char *restrict format, va_list args) {
    return CRUNNER_vdprintf(fd, format, args);
}

STUB int CRUNNER_fputc(int c, stream *out) {
    unsigned char byte = (unsigned char)c;
    if (refused(out) || !crunner_stream_write(out, &byte, 1)) return -1;
    return byte;
}
STUB int CRUNNER_putc(int c, stream *out) { return CRUNNER_fputc(c, out); }
STUB int CRUNNER__IO_putc(int c, stream *out) { return CRUNNER_fputc(c, out); }
STUB int CRUNNER_putc_unlocked(int c, stream *out) { return CRUNNER_fputc(c, out); }
STUB int CRUNNER_fputc_unlocked(int c, stream *out) { return CRUNNER_fputc(c, out); }
STUB int CRUNNER___overflow(stream *out, int c) { return CRUNNER_fputc(c, out); }
STUB int CRUNNER_putchar(int c) { return CRUNNER_fputc(c, CRUNNER_stdout); }
STUB int CRUNNER_putchar_unlocked(int c) { return CRUNNER_fputc(c, CRUNNER_stdout); }

STUB int CRUNNER_fputs(const char *restrict text, stream *restrict out) {
    size_t n = strlen(text);
    return !refused(out) && crunner_stream_write(out, text, n) ? 1 : -1;
}
STUB int CRUNNER_fputs_unlocked(const char *restrict text, stream *restrict out) {
    return CRUNNER_fputs(text, out);
}

STUB int CRUNNER_puts(const char *text) {
    size_t n = strlen(text);
    if (refused(CRUNNER_stdout)) return -1;
    if (!crunner_stream_write(CRUNNER_stdout, text, n)
        || !crunner_stream_write(CRUNNER_stdout, "\n", 1))
        return -1;
    return n < INT_MAX ? (int)n + 1 : INT_MAX;
}

STUB int CRUNNER_putw(int word, stream *out) {
    return !refused(out) && crunner_stream_write(out, &word, sizeof word) ? 0 : -1;
}

STUB size_t CRUNNER_fwrite(const void *restrict bytes, size_t size, size_t n,
                           stream *restrict out) {
    size_t all;
    if (!size || !n) return 0;
    if (__builtin_mul_overflow(size, n, &all)) return 0;
    int fault = crunner_fault("fwrite",
                              (n > 1 ? MAY_BE_SHORT : 0) | E(EAGAIN) | E(EINTR) | E(EIO) | E(ENOSPC)
                                  | E(EPIPE) | E(EFBIG),
                              E(EDQUOT));
    size_t some = fault == FAULT_SHORT ? 1 + crunner_choose_u32("fwrite") % (n - 1) : 0;
    if (!fault) return crunner_stream_write(out, bytes, all) ? n : 0;
    out->flags |= STREAM_ERROR;
    if (fault == FAULT_SHORT) stub_errno = STUB_ENOSPC;
    return some && crunner_stream_write(out, bytes, some * size) ? some : 0;
}
STUB size_t CRUNNER_fwrite_unlocked(const void *restrict bytes, size_t size, size_t n,
                                    stream *restrict out) {
    return CRUNNER_fwrite(bytes, size, n, out);
}

char *strerror(int error);

STUB void CRUNNER_perror(const char *prefix) {
    int error = stub_errno;
    if (prefix && *prefix) {
        CRUNNER_fputs(prefix, CRUNNER_stderr);
        CRUNNER_fputs(": ", CRUNNER_stderr);
    }
    CRUNNER_fputs(strerror(error), CRUNNER_stderr);
    CRUNNER_fputs("\n", CRUNNER_stderr);
}
