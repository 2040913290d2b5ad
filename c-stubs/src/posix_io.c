/* Descriptors: open, read, write and related functions, on the same files as the streams. Which
 * calls the system may refuse, and with which errors, follows the manual pages. A descriptor that
 * is not open yields EBADF without a choice. */
#include "file_store.h"
#include <poll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define O_WRITE_ONLY 1
#define O_READ_WRITE 2
#define O_CREATE 0100
#define O_EXCLUSIVE 0200
#define O_TRUNCATE 01000
#define O_AT_END 02000

static int fails(int error) {
    stub_errno = error;
    return -1;
}
/* The errors of opening a file by name. */
#define BY_NAME \
    (E(EACCES) | E(ENOENT) | E(ENOTDIR) | E(ELOOP) | E(ENAMETOOLONG) | E(ENOMEM) | E(EIO))
#define CHANGING \
    (E(EACCES) | E(EPERM) | E(EROFS) | E(ENOSPC) | E(ENOTDIR) | E(ELOOP) | E(ENAMETOOLONG) \
     | E(ENOMEM) | E(EIO))

static int open_fails(const char *channel) {
    return crunner_fault(channel,
                         BY_NAME | CHANGING | E(EMFILE) | E(ENFILE) | E(EINTR) | E(EISDIR)
                             | E(ENXIO) | E(ENODEV) | E(ETXTBSY) | E(EINVAL) | E(EAGAIN),
                         E(EOVERFLOW) | E(EDQUOT))
           != 0;
}

STUB int CRUNNER_open(const char *name, int flags, ...) {
    int access = flags & 3;
    struct crunner_content *file = crunner_content(name);
    if (!file) return fails(STUB_ENOMEM);
    /* If the file is created or truncated anyway, whether it existed before is not chosen, unless
     * its existence would be an error. */
    int anew = (flags & O_CREATE) && (flags & O_TRUNCATE) && !(flags & O_EXCLUSIVE);
    int exists = !anew && crunner_content_exists(file);
    if (exists && (flags & O_CREATE) && (flags & O_EXCLUSIVE)) return fails(STUB_EEXIST);
    if (!anew && !exists && !(flags & O_CREATE)) return fails(STUB_ENOENT);
    if (open_fails("open")) return -1;
    if (anew || !exists) crunner_content_create(file);
    else if ((flags & O_TRUNCATE) && access) crunner_content_truncate(file, 0);
    return crunner_descriptor_open(file, access != O_WRITE_ONLY, access != 0,
                                   (flags & O_AT_END) != 0);
}
STUB int CRUNNER_openat(int folder, const char *name, int flags, ...) {
    return CRUNNER_open(name, flags);
}
STUB int CRUNNER_creat(const char *name, unsigned mode) {
    return CRUNNER_open(name, O_WRITE_ONLY | O_CREATE | O_TRUNCATE);
}

STUB int CRUNNER_mkstemp(char *name) {
    size_t n = strlen(name);
    static const char letters[62] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static unsigned made;
    if (n < 6) return fails(STUB_EINVAL);
    for (size_t i = n - 6; i < n; i++)
        if (name[i] != 'X') return fails(STUB_EINVAL);
    /* The names are distinct as long as the choices are zeros. */
    unsigned chosen = crunner_choose_u32("mkstemp") + made++ * 61u * 62u * 62u * 62u * 62u;
    for (size_t i = n - 6; i < n; i++, chosen /= 62) name[i] = letters[chosen % 62];
    struct crunner_content *file = crunner_content(name);
    if (!file) return fails(STUB_ENOMEM);
    /* mkstemp never returns the name of an existing file. */
    crunner_assume(!crunner_content_is_there(file));
    return CRUNNER_open(name, O_READ_WRITE | O_CREATE | O_TRUNCATE);
}

/* The descriptor is closed even if close() fails. */
STUB int CRUNNER_close(int fd) {
    if (crunner_descriptor_close(fd)) return -1;
    return crunner_fault("close", E(EINTR) | E(EIO) | E(ENOSPC), E(EDQUOT)) ? -1 : 0;
}

/* Returns the bytes before a fault or a pause. A fault after some bytes is reported by the next
 * read. */
STUB long CRUNNER_read(int fd, void *into, size_t n) {
    unsigned char *bytes = into;
    size_t at = 0;
    crunner_signals_arrive();
    if (!crunner_descriptor_readable(fd)) return crunner_descriptor_refused(fd);
    crunner_descriptors_by_number();
    int *error = crunner_descriptor_error(fd);
    if (*error) {
        stub_errno = *error;
        *error = 0;
        return -1;
    }
    for (; at < n; at++) {
        if (at > 0 && crunner_descriptor_is_empty_pipe(fd)) break;
        int c = crunner_descriptor_byte(fd);
        if (c >= 0) {
            bytes[at] = (unsigned char)c;
            continue;
        }
        if (c == INPUT_FAILS && at == 0) return -1;
        if (c == INPUT_FAILS) *error = stub_errno;
        /* A pause before the first byte would be no short read, so such runs are rejected. */
        if (c == INPUT_PAUSES) crunner_assume(at > 0);
        break;
    }
    return (long)at;
}
STUB long CRUNNER___read_chk(int fd, void *into, size_t n, size_t room) {
    if (n > room) ABORTS("buffer overflow detected: read");
    return CRUNNER_read(fd, into, n);
}

/* The number of bytes that a write writes, or -1. */
static long written(const char *channel, size_t n) {
    int fault = crunner_fault(channel,
                              (n > 1 ? MAY_BE_SHORT : 0) | E(EAGAIN) | E(EINTR) | E(EIO) | E(ENOSPC)
                                  | E(EPIPE) | E(EFBIG) | E(EINVAL) | E(EPERM),
                              E(EDQUOT));
    if (fault == FAULT_SHORT) return (long)(1 + crunner_choose_u32(channel) % (n - 1));
    return fault ? -1 : (long)n;
}

STUB long CRUNNER_write(int fd, const void *bytes, size_t n) {
    if (!crunner_descriptor_writable(fd)) return crunner_descriptor_refused(fd);
    crunner_descriptors_by_number();
    long some = crunner_descriptor_is_broken_pipe(fd) ? fails(STUB_EPIPE) : written("write", n);
    if (some == -1) {
        int error = stub_errno;
        if (error == STUB_EPIPE) {
            crunner_inherits_the_usual();
            CRUNNER_raise(13); /* SIGPIPE */
        }
        return fails(error);
    }
    if (some && !crunner_descriptor_write(fd, bytes, (size_t)some)) return fails(STUB_ENOSPC);
    return some;
}

/* IOV_MAX: the maximal number of parts. */
#define PARTS 1024

STUB long CRUNNER_readv(int fd, const struct iovec *parts, int count) {
    long all = 0;
    if (count < 0 || count > PARTS) return fails(STUB_EINVAL);
    for (int i = 0; i < count; i++) {
        long n = CRUNNER_read(fd, parts[i].iov_base, parts[i].iov_len);
        if (n < 0) return all ? all : -1;
        all += n;
        if ((size_t)n < parts[i].iov_len) break;
    }
    return all;
}

STUB long CRUNNER_writev(int fd, const struct iovec *parts, int count) {
    long all = 0;
    if (count < 0 || count > PARTS) return fails(STUB_EINVAL);
    for (int i = 0; i < count; i++) {
        long n = CRUNNER_write(fd, parts[i].iov_base, parts[i].iov_len);
        if (n < 0) return all ? all : -1;
        all += n;
        if ((size_t)n < parts[i].iov_len) break;
    }
    return all;
}

STUB long CRUNNER_lseek(int fd, long offset, int whence) {
    crunner_descriptors_by_number();
    return crunner_descriptor_seek(fd, offset, whence);
}

STUB long CRUNNER_pread(int fd, void *into, size_t n, long offset) {
    if (offset < 0) return fails(STUB_EINVAL);
    long was = crunner_descriptor_seek(fd, 0, 1);
    if (was < 0 || crunner_descriptor_seek(fd, offset, 0) < 0) return -1;
    long result = CRUNNER_read(fd, into, n);
    crunner_descriptor_seek(fd, was, 0);
    return result;
}
STUB long CRUNNER_pwrite(int fd, const void *bytes, size_t n, long offset) {
    if (offset < 0) return fails(STUB_EINVAL);
    long was = crunner_descriptor_seek(fd, 0, 1);
    if (was < 0 || crunner_descriptor_seek(fd, offset, 0) < 0) return -1;
    long result = CRUNNER_write(fd, bytes, n);
    crunner_descriptor_seek(fd, was, 0);
    return result;
}

STUB int CRUNNER_ftruncate(int fd, long size) {
    struct crunner_content *file = crunner_descriptor_content(fd);
    if (!crunner_descriptor_valid(fd)) return crunner_descriptor_refused(fd);
    if (size < 0 || !file || crunner_content_is_pipe(file) || !crunner_descriptor_writable(fd))
        return fails(STUB_EINVAL);
    if (crunner_fault("ftruncate", E(EINTR) | E(EIO) | E(EFBIG) | E(EPERM) | E(EROFS), 0))
        return -1;
    crunner_content_truncate(file, (size_t)size);
    return 0;
}
STUB int CRUNNER_fsync(int fd) {
    if (!crunner_descriptor_valid(fd)) return crunner_descriptor_refused(fd);
    return crunner_fault("fsync", E(EINTR) | E(EIO) | E(ENOSPC) | E(EROFS) | E(EINVAL), E(EDQUOT))
               ? -1
               : 0;
}
STUB int CRUNNER_fdatasync(int fd) { return CRUNNER_fsync(fd); }
STUB void CRUNNER_sync(void) { crunner_signals_arrive(); }

/* A regular file that everybody may read, unless the narrowing "files" is lifted: then kind, owner
 * and age are chosen. */
static void describe(struct stat *into, struct crunner_content *file) {
    memset(into, 0, sizeof *into);
    into->st_nlink = 1;
    into->st_blksize = 4096;
    if (file && !crunner_content_is_pipe(file)) {
        into->st_mode = S_IFREG | 0644;
        into->st_size = (long)crunner_content_size(file);
        into->st_blocks = (into->st_size + 511) / 512;
    } else {
        into->st_mode = S_IFIFO | 0600;
    }
    if (!crunner_assumed("files")) {
        unsigned noise[4];
        crunner_choose("stat", noise, sizeof noise);
        into->st_mode ^= noise[0] & 0177777;
        into->st_nlink += noise[0] >> 16;
        into->st_uid = noise[1];
        into->st_gid = noise[2];
        into->st_ino = into->st_dev = noise[1] ^ noise[2];
        into->st_mtime = into->st_ctime = into->st_atime = noise[3];
        if (!S_ISREG(into->st_mode)) {
            unsigned size;
            crunner_choose("stat", &size, sizeof size);
            into->st_size = size;
        }
    }
}

STUB int CRUNNER_stat(const char *restrict name, struct stat *restrict into) {
    struct crunner_content *file = crunner_content(name);
    if (!file || !crunner_content_exists(file)) return fails(STUB_ENOENT);
    if (crunner_fault("stat", BY_NAME, E(EOVERFLOW))) return -1;
    describe(into, file);
    return 0;
}
STUB int CRUNNER_lstat(const char *restrict name, struct stat *restrict into) {
    return CRUNNER_stat(name, into);
}
STUB int CRUNNER_fstat(int fd, struct stat *into) {
    if (!crunner_descriptor_valid(fd)) return crunner_descriptor_refused(fd);
    if (crunner_fault("fstat", E(EIO) | E(ENOMEM), E(EOVERFLOW))) return -1;
    describe(into, crunner_descriptor_content(fd));
    return 0;
}
/* Before glibc 2.33, the functions above were inline and called these. */
STUB int CRUNNER___xstat(int version, const char *name, struct stat *into) {
    return CRUNNER_stat(name, into);
}
STUB int CRUNNER___lxstat(int version, const char *name, struct stat *into) {
    return CRUNNER_stat(name, into);
}
STUB int CRUNNER___fxstat(int version, int fd, struct stat *into) {
    return CRUNNER_fstat(fd, into);
}

STUB int CRUNNER_access(const char *name, int mode) {
    struct crunner_content *file = crunner_content(name);
    if (!file || !crunner_content_exists(file)) return fails(STUB_ENOENT);
    return crunner_fault("access", BY_NAME | E(EROFS) | E(EPERM) | E(ETXTBSY), 0) ? -1 : 0;
}
STUB int CRUNNER_faccessat(int folder, const char *name, int mode, int flags) {
    return CRUNNER_access(name, mode);
}

/* Linux stores the remaining time in the time limit. */
static void passes(struct timeval *limit, int is_all) {
    struct timeval before = *limit;
    if (is_all) limit->tv_sec = limit->tv_usec = 0;
    else if (crunner_choose_byte("select_left") & 1) {
        limit->tv_usec = (long)(crunner_choose_u32("select_left") % 1000000);
        limit->tv_sec = (long)crunner_choose_u32("select_left");
        crunner_assume(limit->tv_sec < before.tv_sec
                       || (limit->tv_sec == before.tv_sec && limit->tv_usec <= before.tv_usec));
    }
    long fraction = before.tv_usec - limit->tv_usec, borrowed = fraction < 0;
    crunner_time_passes(before.tv_sec - limit->tv_sec - borrowed,
                        (fraction + borrowed * 1000000) * 1000);
}

/* All descriptors are ready immediately, unless another choice is made: then a bit per descriptor
 * says whether it is ready. */
STUB int CRUNNER_select(int count, fd_set *restrict r, fd_set *restrict w, fd_set *restrict x,
                        struct timeval *restrict limit) {
    int ready = 0;
    if (count < 0 || count > FD_SETSIZE || (limit && (limit->tv_sec < 0 || limit->tv_usec < 0)))
        return fails(STUB_EINVAL);
    int fault = crunner_fault("select", MAY_BE_SHORT | E(EINTR) | E(ENOMEM), 0);
    if (fault > 0) return -1;
    for (int fd = 0; fd < count; fd++) {
        int in = r && FD_ISSET(fd, r), out = w && FD_ISSET(fd, w), odd = x && FD_ISSET(fd, x);
        if (!in && !out && !odd) continue;
        if (!crunner_descriptor_valid(fd)) return crunner_descriptor_refused(fd);
        unsigned char which = fault ? crunner_choose_byte("select") : 3;
        if (in && !(which & 1)) FD_CLR(fd, r);
        if (out && !(which & 2)) FD_CLR(fd, w);
        if (odd && !(which & 4)) FD_CLR(fd, x);
        ready += (in && (which & 1)) + (out && (which & 2)) + (odd && (which & 4) != 0);
    }
    /* Without a time limit, the call returns only when a descriptor is ready. */
    if (!limit) crunner_assume(ready > 0);
    else passes(limit, ready == 0);
    return ready;
}
STUB int CRUNNER_poll(struct pollfd *fds, nfds_t count, int limit) {
    int ready = 0;
    int fault = crunner_fault("poll", MAY_BE_SHORT | E(EINTR) | E(ENOMEM), 0);
    if (fault > 0) return -1;
    for (nfds_t i = 0; i < count; i++) {
        int fd = fds[i].fd;
        fds[i].revents = 0;
        if (fd < 0) continue;
        if (!crunner_descriptor_valid(fd)) fds[i].revents = POLLNVAL;
        else if (!fault) fds[i].revents = (short)(fds[i].events & (POLLIN | POLLOUT));
        else
            fds[i].revents = (short)(crunner_choose_byte("poll")
                                     & (fds[i].events | POLLERR | POLLHUP));
        ready += fds[i].revents != 0;
    }
    if (limit < 0) crunner_assume(ready > 0);
    else if (!ready) crunner_time_passes(limit / 1000, limit % 1000 * 1000000L);
    return ready;
}

STUB int CRUNNER_dup(int fd) {
    if (!crunner_descriptor_valid(fd)) return crunner_descriptor_refused(fd);
    return crunner_fault("dup", E(EMFILE), 0) ? -1 : crunner_descriptor_copy(fd, 0);
}
STUB int CRUNNER_dup2(int fd, int wanted) {
    if (!crunner_descriptor_valid(fd) || wanted < 0) return crunner_descriptor_refused(fd);
    if (fd == wanted) return fd;
    if (crunner_fault("dup2", E(EINTR) | E(EBUSY) | E(EMFILE), 0)) return -1;
    if (!crunner_descriptor_room(wanted)) {
        if (!crunner_assumed("files"))
            crunner_unmodelled("more descriptors than the model has room for");
        return fails(STUB_EBADF);
    }
    crunner_descriptor_replace(fd, wanted);
    return wanted;
}
STUB int CRUNNER_pipe(int ends[2]) {
    if (crunner_fault("pipe", E(EMFILE) | E(ENFILE), 0)) return -1;
    return crunner_pipe_open(ends) ? 0 : -1;
}

/* A lock is free, unless the choice is that another process holds it. The third argument is read
 * only if the command has one. */
STUB int crunner_fcntl(int fd, int command, va_list args) {
    if (!crunner_descriptor_valid(fd)) return crunner_descriptor_refused(fd);
    int argument = command == 0 || command == 1030 ? va_arg(args, int) : 0;
    int fault = crunner_fault("fcntl",
                              E(EACCES) | E(EAGAIN) | E(EINTR) | E(EINVAL) | E(ENOLCK) | E(EMFILE)
                                  | E(EDEADLK) | E(EPERM),
                              0);
    if (fault) return -1;
    switch (command) {
    case 0:
    case 1030: /* F_DUPFD, F_DUPFD_CLOEXEC */
        if (argument < 0) return fails(STUB_EINVAL);
        return crunner_descriptor_copy(fd, argument);
    case 1: return crunner_choose_byte("fcntl") & 1; /* F_GETFD */
    case 3: { /* F_GETFL: O_NONBLOCK, O_LARGEFILE, O_NOATIME and the flags for synchronous writing
                 are choices */
        unsigned char chosen = crunner_choose_byte("fcntl");
        int flags = crunner_descriptor_writable(fd) ? crunner_descriptor_readable(fd) ? 2 : 1 : 0;
        if (crunner_descriptor_appends(fd) || (fd < 3 && (chosen & 32))) flags |= O_AT_END;
        return flags | (chosen & 1 ? 04000 : 0) | (chosen & 2 ? 0100000 : 0)
               | (chosen & 4 ? 010000 : 0) | (chosen & 8 ? 04010000 : 0)
               | (chosen & 16 ? 01000000 : 0);
    }
    default: return 0;
    }
}
STUB int CRUNNER_fcntl(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    int result = crunner_fcntl(fd, command, args);
    va_end(args);
    return result;
}

/* No descriptor is a terminal or another device, unless the narrowing "devices" is lifted. */
STUB int CRUNNER_ioctl(int fd, unsigned long request, ...) {
    if (!crunner_descriptor_valid(fd)) return crunner_descriptor_refused(fd);
    if (crunner_assumed("devices")) return fails(STUB_ENOTTY);
    unsigned char chosen = crunner_choose_byte("ioctl");
    if (!(chosen & 1)) return fails(chosen ? (chosen >> 1) % 40 + 1 : STUB_ENOTTY);
    va_list args;
    va_start(args, request);
    void *into = va_arg(args, void *);
    va_end(args);
    switch (request) {
    case 0x5413: crunner_choose("ioctl", into, 8); return 0;  /* TIOCGWINSZ */
    case 0x541B: crunner_choose("ioctl", into, 4); return 0;  /* FIONREAD */
    case 0x5421: return 0;                                    /* FIONBIO */
    case 0x5401: crunner_choose("ioctl", into, 36); return 0; /* TCGETS */
    case 0x5402:
    case 0x5403:
    case 0x5404:
    case 0x5414: return 0; /* TCSETS.., TIOCSWINSZ */
    default: crunner_unmodelled("what this ioctl writes");
    }
    return (int)(crunner_choose_u32("ioctl") & INT_MAX);
}
STUB int CRUNNER_isatty(int fd) {
    if (!crunner_descriptor_valid(fd)) {
        crunner_descriptor_refused(fd);
        return 0;
    }
    if (!crunner_assumed("devices") && (crunner_choose_byte("isatty") & 1)) return 1;
    stub_errno = STUB_ENOTTY;
    return 0;
}

static int locked(const char *channel, int fd) {
    if (!crunner_descriptor_valid(fd)) return crunner_descriptor_refused(fd);
    return crunner_fault(channel,
                         E(EAGAIN) | E(EACCES) | E(EINTR) | E(EINVAL) | E(ENOLCK) | E(EDEADLK), 0)
               ? -1
               : 0;
}
STUB int CRUNNER_flock(int fd, int operation) { return locked("flock", fd); }
STUB int CRUNNER_lockf(int fd, int command, long size) { return locked("lockf", fd); }
