/* Streams: opening, closing, positions, state. Each FILE is a separate heap block, so that using or
 * closing it after fclose() is a memory error. */
#include "allocation.h"
#include "stdio_stub.h"

/* Three small objects, since proofs know more about each of them than about a large object. */
static stream standard_in = {.fd = 0}, standard_out = {.fd = 1}, standard_error = {.fd = 2};
STUB stream *CRUNNER_stdin = &standard_in;
STUB stream *CRUNNER_stdout = &standard_out;
STUB stream *CRUNNER_stderr = &standard_error;

static int is_standard(const stream *s) {
    return s == &standard_in || s == &standard_out || s == &standard_error;
}

#define OPENING \
    (E(EACCES) | E(ENOENT) | E(ENOTDIR) | E(ELOOP) | E(ENAMETOOLONG) | E(ENOMEM) | E(EIO) \
     | E(EPERM) | E(EROFS) | E(ENOSPC) | E(EMFILE) | E(ENFILE) | E(EINTR) | E(EISDIR) | E(ENXIO) \
     | E(EINVAL) | E(ETXTBSY))
#define WRITING_BACK (E(EAGAIN) | E(EINTR) | E(EIO) | E(ENOSPC) | E(EPIPE) | E(EFBIG))

static int open_by_mode(const char *name, const char *mode) {
    int plus = 0, fd;
    struct crunner_content *file;
    for (const char *m = mode; *m && *m != ','; m++) plus |= *m == '+';
    if (*mode != 'r' && *mode != 'w' && *mode != 'a') {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    file = crunner_content(name);
    if (!file) {
        stub_errno = STUB_ENOMEM;
        return -1;
    }
    if (*mode == 'r') {
        if (!crunner_content_exists(file)) {
            stub_errno = STUB_ENOENT;
            return -1;
        }
        if (crunner_fault("fopen", OPENING, E(EOVERFLOW))) return -1;
        return crunner_descriptor_open(file, 1, plus, 0);
    }
    if (crunner_fault("fopen", OPENING, E(EOVERFLOW) | E(EDQUOT))) return -1;
    fd = crunner_descriptor_open(file, plus, 1, *mode == 'a');
    if (fd < 0) return -1;
    if (*mode == 'w' || !crunner_content_exists(file)) crunner_content_create(file);
    /* glibc moves to the end of the file. The end is determined only when it is needed. */
    else crunner_descriptor_to_end(fd);
    return fd;
}

static stream *stream_of(int fd) {
    stream *s = crunner_handle(sizeof *s);
    if (!s) {
        crunner_descriptor_close(fd);
        stub_errno = STUB_ENOMEM;
        return 0;
    }
    s->fd = fd;
    return s;
}

STUB stream *CRUNNER_fopen(const char *restrict name, const char *restrict mode) {
    int fd = open_by_mode(name, mode);
    return fd < 0 ? 0 : stream_of(fd);
}

STUB stream *CRUNNER_fdopen(int fd, const char *mode) {
    if (!crunner_descriptor_valid(fd)) {
        stub_errno = STUB_EBADF;
        return 0;
    }
    int plus = 0;
    for (const char *m = mode; *m && *m != ','; m++) plus |= *m == '+';
    int reads = *mode == 'r' || plus, writes = *mode != 'r' || plus;
    int may = (!reads || crunner_descriptor_readable(fd))
              && (!writes || crunner_descriptor_writable(fd));
    if ((*mode != 'r' && *mode != 'w' && *mode != 'a') || !may) {
        stub_errno = STUB_EINVAL;
        return 0;
    }
    if (*mode == 'a') crunner_descriptor_append(fd);
    return stream_of(fd);
}

STUB void crunner_stream_buffer(stream *s) {
    if (s->buffer) *s->buffer = *s->buffer_last = 0;
}

/* Writes back what is buffered, and returns the buffer to the program. */
static int let_go(stream *s) {
    crunner_stream_buffer(s);
    s->buffer = 0;
    return crunner_descriptor_close(s->fd);
}

STUB stream *CRUNNER_freopen(const char *restrict name, const char *restrict mode,
                             stream *restrict s) {
    if (!name) return s;
    let_go(s);
    s->flags = s->pushed = 0;
    s->fd = open_by_mode(name, mode);
    if (s->fd >= 0) return s;
    if (!is_standard(s)) crunner_handle_back(s);
    return 0;
}

STUB stream *CRUNNER_tmpfile(void) {
    static char name[] = "/tmp/tmpfile-000";
    if (++name[15] > '9') {
        name[15] = '0';
        name[14]++;
    }
    int fd = open_by_mode(name, "w+");
    return fd < 0 ? 0 : stream_of(fd);
}

STUB int CRUNNER_fclose(stream *s) {
    int result = let_go(s);
    if (!is_standard(s)) crunner_handle_back(s);
    return result || crunner_fault("fclose", WRITING_BACK, E(EDQUOT)) ? -1 : 0;
}

STUB int CRUNNER_fflush(stream *s) {
    if (s && !crunner_descriptor_valid(s->fd)) {
        stub_errno = STUB_EBADF;
        return -1;
    }
    if (s) crunner_stream_buffer(s);
    if (!crunner_fault("fflush", WRITING_BACK, E(EDQUOT))) return 0;
    if (s) s->flags |= STREAM_ERROR;
    return -1;
}
STUB int CRUNNER_fflush_unlocked(stream *s) { return CRUNNER_fflush(s); }

STUB int CRUNNER_fseek(stream *s, long offset, int whence) {
    if (whence == 1) offset -= s->pushed;
    if (crunner_fault("fseek", WRITING_BACK, E(EOVERFLOW))) return -1;
    if (crunner_descriptor_seek(s->fd, offset, whence) < 0) return -1;
    s->pushed = 0;
    s->flags &= ~STREAM_EOF;
    return 0;
}
STUB int CRUNNER_fseeko(stream *s, long offset, int whence) {
    return CRUNNER_fseek(s, offset, whence);
}

STUB long CRUNNER_ftell(stream *s) {
    long at = crunner_descriptor_seek(s->fd, 0, 1);
    return at < 0 ? -1 : at - s->pushed;
}
STUB long CRUNNER_ftello(stream *s) { return CRUNNER_ftell(s); }

STUB void CRUNNER_rewind(stream *s) {
    CRUNNER_fseek(s, 0, 0);
    s->flags &= ~STREAM_ERROR;
}

/* fpos_t has 16 bytes; its first word is the position. */
STUB int CRUNNER_fgetpos(stream *restrict s, long *restrict position) {
    long at = CRUNNER_ftell(s);
    if (at < 0) return -1;
    position[0] = at;
    position[1] = 0;
    return 0;
}
STUB int CRUNNER_fsetpos(stream *s, const long *position) {
    return CRUNNER_fseek(s, position[0], 0);
}

STUB int CRUNNER_feof(stream *s) { return (s->flags & STREAM_EOF) != 0; }
STUB int CRUNNER_feof_unlocked(stream *s) { return CRUNNER_feof(s); }
STUB int CRUNNER_ferror(stream *s) { return (s->flags & STREAM_ERROR) != 0; }
STUB int CRUNNER_ferror_unlocked(stream *s) { return CRUNNER_ferror(s); }
STUB void CRUNNER_clearerr(stream *s) { s->flags &= ~(STREAM_EOF | STREAM_ERROR); }
STUB void CRUNNER_clearerr_unlocked(stream *s) { CRUNNER_clearerr(s); }
STUB int CRUNNER_fileno(stream *s) { return s->fd; }
STUB int CRUNNER_fileno_unlocked(stream *s) { return s->fd; }

/* Accesses the stream, which must be valid even if the call has no effect. */
static void touch(stream *s) {
    int flags = s->flags;
    s->flags = flags;
}

/* A buffer that the program passes must be as large as it says. Its content belongs to the
 * library. */
STUB int CRUNNER_setvbuf(stream *restrict s, char *restrict buffer, int mode, size_t n) {
    touch(s);
    if (mode < 0 || mode > 2) return -1;
    s->buffer = 0;
    if (!buffer || !n || mode == 2) return 0; /* _IONBF: no buffer */
    if (!crunner_assumed("buffers"))
        crunner_unmodelled("what the library puts into the buffer of a stream");
    s->buffer = buffer;
    s->buffer_last = buffer + n - 1;
    crunner_stream_buffer(s);
    return 0;
}
STUB void CRUNNER_setbuf(stream *restrict s, char *restrict buffer) {
    CRUNNER_setvbuf(s, buffer, 0, 8192);
}
STUB void CRUNNER_setbuffer(stream *restrict s, char *restrict buffer, size_t n) {
    CRUNNER_setvbuf(s, buffer, 0, n);
}
STUB void CRUNNER_setlinebuf(stream *s) { touch(s); }
STUB void CRUNNER_flockfile(stream *s) { touch(s); }
STUB void CRUNNER_funlockfile(stream *s) { touch(s); }
STUB int CRUNNER_ftrylockfile(stream *s) {
    touch(s);
    return 0;
}
