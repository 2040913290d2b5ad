/* Descriptors: open, read, write and their kin, over the same files as the streams. */
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

static int bad(void) {
    stub_errno = STUB_EBADF;
    return -1;
}

STUB int CRUNNER_open(const char *name, int flags, ...) {
    int access = flags & 3;
    struct crunner_content *file = crunner_content(name);
    if (!file) {
        stub_errno = STUB_ENOMEM;
        return -1;
    }
    /* A file to be made anew need not have its old existence decided, unless that would be an error. */
    if ((flags & O_CREATE) && (flags & O_TRUNCATE) && !(flags & O_EXCLUSIVE)) {
        crunner_content_create(file);
    } else if (crunner_content_exists(file)) {
        if ((flags & O_CREATE) && (flags & O_EXCLUSIVE)) {
            stub_errno = STUB_EEXIST;
            return -1;
        }
        if ((flags & O_TRUNCATE) && access) crunner_content_truncate(file, 0);
    } else if (flags & O_CREATE) {
        crunner_content_create(file);
    } else {
        stub_errno = STUB_ENOENT;
        return -1;
    }
    return crunner_descriptor_open(file, access != O_WRITE_ONLY, access != 0, (flags & O_AT_END) != 0);
}
STUB int CRUNNER_openat(int folder, const char *name, int flags, ...) { return CRUNNER_open(name, flags); }
STUB int CRUNNER_creat(const char *name, unsigned mode) { return CRUNNER_open(name, O_WRITE_ONLY | O_CREATE | O_TRUNCATE); }

STUB int CRUNNER_mkstemp(char *name) {
    size_t n = strlen(name);
    static char next = 'a';
    if (n < 6) {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    for (size_t i = n - 6; i < n; i++) name[i] = next;
    next = next == 'z' ? 'A' : (char)(next + 1);
    return CRUNNER_open(name, O_READ_WRITE | O_CREATE | O_TRUNCATE);
}

STUB int CRUNNER_close(int fd) {
    int result = crunner_descriptor_close(fd);
    return result || output_fails("close") ? -1 : 0;
}

STUB long CRUNNER_read(int fd, void *into, size_t n) {
    unsigned char *bytes = into;
    size_t at = 0;
    if (!crunner_descriptor_readable(fd)) return bad();
    for (; at < n; at++) {
        int c = crunner_descriptor_byte(fd);
        if (c < 0) break;
        bytes[at] = (unsigned char)c;
    }
    return (long)at;
}
STUB long CRUNNER___read_chk(int fd, void *into, size_t n, size_t room) {
    if (n > room) crunner_violation(VIOLATES_ABORT, "buffer overflow detected: read", 0, 0);
    return CRUNNER_read(fd, into, n);
}

STUB long CRUNNER_write(int fd, const void *bytes, size_t n) {
    if (!crunner_descriptor_writable(fd)) return bad();
    if (n && !crunner_descriptor_write(fd, bytes, n)) return -1;
    return output_fails("write") ? -1 : (long)n;
}

STUB long CRUNNER_readv(int fd, const struct iovec *parts, int count) {
    long all = 0;
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
    for (int i = 0; i < count; i++) {
        long n = CRUNNER_write(fd, parts[i].iov_base, parts[i].iov_len);
        if (n < 0) return all ? all : -1;
        all += n;
    }
    return all;
}

STUB long CRUNNER_lseek(int fd, long offset, int whence) { return crunner_descriptor_seek(fd, offset, whence); }

STUB long CRUNNER_pread(int fd, void *into, size_t n, long offset) {
    long was = crunner_descriptor_seek(fd, 0, 1);
    if (was < 0 || crunner_descriptor_seek(fd, offset, 0) < 0) return -1;
    long result = CRUNNER_read(fd, into, n);
    crunner_descriptor_seek(fd, was, 0);
    return result;
}
STUB long CRUNNER_pwrite(int fd, const void *bytes, size_t n, long offset) {
    long was = crunner_descriptor_seek(fd, 0, 1);
    if (was < 0 || crunner_descriptor_seek(fd, offset, 0) < 0) return -1;
    long result = CRUNNER_write(fd, bytes, n);
    crunner_descriptor_seek(fd, was, 0);
    return result;
}

STUB int CRUNNER_ftruncate(int fd, long size) {
    struct crunner_content *file = crunner_descriptor_content(fd);
    if (!file) return bad();
    if (size < 0) {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    crunner_content_truncate(file, (size_t)size);
    return 0;
}
STUB int CRUNNER_fsync(int fd) { return crunner_descriptor_valid(fd) ? 0 : bad(); }
STUB int CRUNNER_fdatasync(int fd) { return CRUNNER_fsync(fd); }
STUB void CRUNNER_sync(void) {}

static void describe(struct stat *into, struct crunner_content *file) {
    memset(into, 0, sizeof *into);
    into->st_nlink = 1;
    into->st_blksize = 4096;
    if (file) {
        into->st_mode = S_IFREG | 0644;
        into->st_size = (long)crunner_content_size(file);
        into->st_blocks = (into->st_size + 511) / 512;
    } else {
        into->st_mode = S_IFIFO | 0600;
    }
}

STUB int CRUNNER_stat(const char *restrict name, struct stat *restrict into) {
    struct crunner_content *file = crunner_content(name);
    if (!file || !crunner_content_exists(file)) {
        stub_errno = STUB_ENOENT;
        return -1;
    }
    describe(into, file);
    return 0;
}
STUB int CRUNNER_lstat(const char *restrict name, struct stat *restrict into) { return CRUNNER_stat(name, into); }
STUB int CRUNNER_fstat(int fd, struct stat *into) {
    if (!crunner_descriptor_valid(fd)) return bad();
    describe(into, crunner_descriptor_content(fd));
    return 0;
}
/* Before glibc 2.33 the functions above were inline calls of these. */
STUB int CRUNNER___xstat(int version, const char *name, struct stat *into) { return CRUNNER_stat(name, into); }
STUB int CRUNNER___lxstat(int version, const char *name, struct stat *into) { return CRUNNER_stat(name, into); }
STUB int CRUNNER___fxstat(int version, int fd, struct stat *into) { return CRUNNER_fstat(fd, into); }

STUB int CRUNNER_access(const char *name, int mode) {
    struct crunner_content *file = crunner_content(name);
    if (file && crunner_content_exists(file)) return 0;
    stub_errno = STUB_ENOENT;
    return -1;
}
STUB int CRUNNER_faccessat(int folder, const char *name, int mode, int flags) { return CRUNNER_access(name, mode); }

/* Everything is always ready. */
STUB int CRUNNER_select(int count, fd_set *restrict r, fd_set *restrict w, fd_set *restrict x, struct timeval *restrict limit) {
    int ready = 0;
    for (int fd = 0; fd < count; fd++) ready += (r && FD_ISSET(fd, r)) + (w && FD_ISSET(fd, w));
    if (x) memset(x, 0, sizeof *x);
    return ready;
}
STUB int CRUNNER_poll(struct pollfd *fds, nfds_t count, int limit) {
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        int fd = fds[i].fd;
        fds[i].revents = 0;
        if (fd < 0) continue;
        if (!crunner_descriptor_valid(fd)) fds[i].revents = POLLNVAL;
        else fds[i].revents = (short)(fds[i].events & (POLLIN | POLLOUT));
        ready += fds[i].revents != 0;
    }
    return ready;
}

/* What needs two descriptors on one file, or a terminal, does not work here; a platform may refuse it too. */
STUB int CRUNNER_dup(int fd) {
    stub_errno = STUB_EMFILE;
    return -1;
}
STUB int CRUNNER_dup2(int fd, int wanted) { return fd == wanted && crunner_descriptor_valid(fd) ? fd : CRUNNER_dup(fd); }
STUB int CRUNNER_pipe(int ends[2]) { return CRUNNER_dup(0); }
STUB int CRUNNER_fcntl(int fd, int command, ...) { return crunner_descriptor_valid(fd) ? 0 : bad(); }
STUB int CRUNNER_ioctl(int fd, unsigned long request, ...) {
    stub_errno = STUB_ENOTTY;
    return -1;
}
STUB int CRUNNER_isatty(int fd) {
    stub_errno = STUB_ENOTTY;
    return 0;
}
STUB int CRUNNER_flock(int fd, int operation) { return crunner_descriptor_valid(fd) ? 0 : bad(); }
STUB int CRUNNER_lockf(int fd, int command, long size) { return crunner_descriptor_valid(fd) ? 0 : bad(); }
