/* Other names of the same functions: variants with 64-bit offsets (identical where long has 64
 * bits) and the scanners of C99 and C23. Each has its own definition, because objcopy cannot rename
 * two symbols to the same name. */
#include "stdio_stub.h"

struct stat;
struct dirent;
struct folder;

#define SCANNERS(prefix) \
    STUB int CRUNNER_##prefix##vfscanf(stream *restrict from, const char *restrict format, \
                                       va_list args) { \
        return CRUNNER_vfscanf(from, format, args); \
    } \
    STUB int CRUNNER_##prefix##vscanf(const char *restrict format, va_list args) { \
        return CRUNNER_vfscanf(CRUNNER_stdin, format, args); \
    } \
    STUB int CRUNNER_##prefix##fscanf(stream *restrict from, const char *restrict format, ...) { \
        va_list args; \
        va_start(args, format); \
        int n = CRUNNER_vfscanf(from, format, args); \
        va_end(args); \
        return n; \
    } \
    STUB int CRUNNER_##prefix##scanf(const char *restrict format, ...) { \
        va_list args; \
        va_start(args, format); \
        int n = CRUNNER_vfscanf(CRUNNER_stdin, format, args); \
        va_end(args); \
        return n; \
    }

int CRUNNER_vfscanf(stream *restrict from, const char *restrict format, va_list args);
SCANNERS(__isoc99_)
SCANNERS(__isoc23_)

#define SAME(result, name, parameters, target, ...) \
    result CRUNNER_##target parameters; \
    STUB result CRUNNER_##name parameters { return CRUNNER_##target(__VA_ARGS__); }

SAME(stream *, fopen64, (const char *restrict name, const char *restrict mode), fopen, name, mode)
SAME(stream *, freopen64,
     (const char *restrict name, const char *restrict mode, stream *restrict s), freopen, name,
     mode, s)
SAME(stream *, tmpfile64, (void), tmpfile)
SAME(int, fseeko64, (stream *s, long offset, int whence), fseek, s, offset, whence)
SAME(long, ftello64, (stream *s), ftell, s)
SAME(int, fgetpos64, (stream *restrict s, long *restrict position), fgetpos, s, position)
SAME(int, fsetpos64, (stream *s, const long *position), fsetpos, s, position)

int CRUNNER_open(const char *name, int flags, ...);
STUB int CRUNNER_open64(const char *name, int flags, ...) { return CRUNNER_open(name, flags); }
STUB int CRUNNER___open_2(const char *name, int flags) { return CRUNNER_open(name, flags); }
STUB int CRUNNER___open64_2(const char *name, int flags) { return CRUNNER_open(name, flags); }
STUB int CRUNNER_openat64(int folder, const char *name, int flags, ...) {
    return CRUNNER_open(name, flags);
}
int crunner_fcntl(int fd, int command, va_list args);
STUB int CRUNNER_fcntl64(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    int result = crunner_fcntl(fd, command, args);
    va_end(args);
    return result;
}
SAME(int, creat64, (const char *name, unsigned mode), creat, name, mode)
SAME(int, mkstemp64, (char *name), mkstemp, name)
SAME(long, lseek64, (int fd, long offset, int whence), lseek, fd, offset, whence)
SAME(long, pread64, (int fd, void *into, size_t n, long offset), pread, fd, into, n, offset)
SAME(long, pwrite64, (int fd, const void *bytes, size_t n, long offset), pwrite, fd, bytes, n,
     offset)
SAME(int, ftruncate64, (int fd, long size), ftruncate, fd, size)
SAME(int, stat64, (const char *restrict name, struct stat *restrict into), stat, name, into)
SAME(int, lstat64, (const char *restrict name, struct stat *restrict into), lstat, name, into)
SAME(int, fstat64, (int fd, struct stat *into), fstat, fd, into)
SAME(int, __xstat64, (int version, const char *name, struct stat *into), __xstat, version, name,
     into)
SAME(int, __lxstat64, (int version, const char *name, struct stat *into), __lxstat, version, name,
     into)
SAME(int, __fxstat64, (int version, int fd, struct stat *into), __fxstat, version, fd, into)
SAME(struct dirent *, readdir64, (struct folder * folder), readdir, folder)
SAME(int, getrlimit64, (int which, void *into), getrlimit, which, into)
SAME(int, setrlimit64, (int which, const void *limit), setrlimit, which, limit)
