/* Names in the file system. A folder's entries come from channel "dir:NAME": a presence byte, then
 * a presence byte and a string per entry. Calls that would change the file system succeed, or fail
 * with an error of their manual page. */
#include "allocation.h"
#include "file_store.h"
#include <dirent.h>
#include <sys/stat.h>

static int fails(int error) {
    stub_errno = error;
    return -1;
}
static int missing(void) { return fails(STUB_ENOENT); }

/* The errors of looking up a name, and those of changing a file or folder. */
#define BY_NAME (E(EACCES) | E(ENOTDIR) | E(ELOOP) | E(ENAMETOOLONG) | E(ENOMEM) | E(EIO))
#define CHANGING (BY_NAME | E(EPERM) | E(EROFS) | E(EBUSY) | E(ENOENT))

STUB int CRUNNER_remove(const char *name) {
    struct crunner_content *file = crunner_content(name);
    if (!file || !crunner_content_exists(file)) return missing();
    if (crunner_fault("remove", CHANGING | E(EISDIR) | E(ENOTEMPTY), 0)) return -1;
    crunner_content_remove(file);
    return 0;
}
STUB int CRUNNER_unlink(const char *name) {
    struct crunner_content *file = crunner_content(name);
    if (!file || !crunner_content_exists(file)) return missing();
    if (crunner_fault("unlink", CHANGING | E(EISDIR), 0)) return -1;
    crunner_content_remove(file);
    return 0;
}
STUB int CRUNNER_unlinkat(int folder, const char *name, int flags) { return CRUNNER_unlink(name); }

STUB int CRUNNER_rename(const char *from, const char *to) {
    struct crunner_content *file = crunner_content(from);
    if (!file || !crunner_content_exists(file)) return missing();
    if (crunner_fault("rename",
                      CHANGING | E(EXDEV) | E(EEXIST) | E(ENOTEMPTY) | E(EISDIR) | E(EINVAL)
                          | E(ENOSPC) | E(EMLINK),
                      E(EDQUOT)))
        return -1;
    crunner_content_rename(file, to);
    return 0;
}

/* PATH_MAX, including the NUL. */
#define LONGEST 4096

/* Names are read to their end before anything else happens. */
static int is_too_long(const char *name) { return strlen(name) >= LONGEST; }

#define CHANGES_AFTER(call, look, errors, high, ...) \
    STUB int CRUNNER_##call(const char *name, ##__VA_ARGS__) { \
        if (is_too_long(name)) return fails(STUB_ENAMETOOLONG); \
        look; \
        return crunner_fault(#call, errors, high) ? -1 : 0; \
    }
#define CHANGES(call, errors, high, ...) CHANGES_AFTER(call, (void)0, errors, high, ##__VA_ARGS__)
CHANGES(mkdir, CHANGING | E(EEXIST) | E(ENOSPC) | E(EMLINK) | E(EINVAL), E(EDQUOT), unsigned mode)
CHANGES(rmdir, CHANGING | E(ENOTEMPTY) | E(EINVAL) | E(EEXIST), 0)
CHANGES(chdir, BY_NAME | E(ENOENT), 0)
CHANGES(chmod, CHANGING, 0, unsigned mode)
CHANGES(chown, CHANGING, 0, unsigned user, unsigned group)
/* Reads two times, as time_t or as struct timeval; NULL stands for the current time. */
static void read_times(const void *times, size_t size) {
    unsigned char given[32];
    if (times) memcpy(given, times, size);
}
CHANGES_AFTER(utime, read_times(times, 16), CHANGING, 0, const void *times)
CHANGES_AFTER(utimes, read_times(times, 32), CHANGING, 0, const void *times)
STUB int CRUNNER_symlink(const char *from, const char *to) {
    if (is_too_long(from) || is_too_long(to)) return fails(STUB_ENAMETOOLONG);
    return crunner_fault("symlink", CHANGING | E(EEXIST) | E(ENOSPC), E(EDQUOT)) ? -1 : 0;
}

STUB int CRUNNER_fchmod(int fd, unsigned mode) {
    if (!crunner_descriptor_valid(fd)) return crunner_descriptor_refused(fd);
    return crunner_fault("fchmod", E(EPERM) | E(EROFS) | E(EIO), 0) ? -1 : 0;
}

/* The new file gets a copy of the old one's content. That later writes through one name are visible
 * through the other is not modelled. */
STUB int CRUNNER_link(const char *from, const char *to) {
    struct crunner_content *file = crunner_content(from), *other = crunner_content(to);
    if (!file || !crunner_content_exists(file)) return missing();
    if (!other || crunner_content_exists(other)) return fails(STUB_EEXIST);
    if (crunner_fault("link", CHANGING | E(EMLINK) | E(ENOSPC) | E(EXDEV), E(EDQUOT))) return -1;
    crunner_content_create(other);
    size_t size = crunner_content_size(file);
    for (size_t at = 0; at < size; at++)
        if (!crunner_content_put(other, at, (unsigned char)crunner_content_byte(file, at)))
            return fails(STUB_ENOSPC);
    return 0;
}

/* Returns the previous mask. The first one is inherited from the process that started the
 * program. */
STUB unsigned CRUNNER_umask(unsigned mask) {
    static unsigned now, known;
    if (!known) {
        known = 1;
        now = 022;
        if (!crunner_assumed("identity")) now ^= crunner_choose_u32("umask") & 0777;
    }
    unsigned before = now;
    now = mask & 0777;
    return before;
}

/* A name is a link only if a byte of "readlink" says so. The link's target follows, stored without
 * a NUL and truncated to the available room. */
STUB long CRUNNER_readlink(const char *restrict name, char *restrict into, size_t n) {
    size_t at = 0;
    if (is_too_long(name)) return fails(STUB_ENAMETOOLONG);
    if (n == 0 || n > LONG_MAX) return fails(STUB_EINVAL);
    if (crunner_fault("readlink", BY_NAME | E(ENOENT), 0)) return -1;
    if (crunner_assumed("io") || !(crunner_choose_byte("readlink") & 1)) return fails(STUB_EINVAL);
    while (at < n) {
        int c = crunner_choose_byte("readlink");
        if (!c) break;
        into[at++] = (char)c;
    }
    /* The target of a link is not empty. */
    crunner_assume(at > 0);
    return (long)at;
}

/* Takes empty parts, `.` and `..` out of an absolute path. */
static void shorten(char *path) {
    size_t from = 0, to = 0;
    while (path[from]) {
        const char *part = path + from + 1;
        size_t n = 0;
        while (part[n] && part[n] != '/') n++;
        if (n == 2 && part[0] == '.' && part[1] == '.') {
            while (to && path[--to] != '/') {}
        } else if (n > 1 || (n == 1 && part[0] != '.')) {
            for (size_t i = 0; i <= n; i++) path[to++] = path[from + i];
        }
        from += n + 1;
    }
    if (!to) path[to++] = '/';
    path[to] = 0;
}

STUB char *CRUNNER_realpath(const char *restrict name, char *restrict into) {
    struct crunner_content *file = crunner_content(name);
    if (!file || !crunner_content_exists(file)) {
        missing();
        return 0;
    }
    if (crunner_fault("realpath", BY_NAME, 0)) return 0;
    if (!crunner_assumed("folder"))
        crunner_unmodelled("a working folder other than /, and links on the way to a name");
    char *whole = crunner_channel(*name == '/' ? "" : "/", name);
    if (!whole) return 0;
    shorten(whole);
    char *path = crunner_channel("", whole);
    free(whole);
    if (!path || !into) return path;
    size_t n = strlen(path) + 1;
    if (n > LONGEST) {
        free(path);
        stub_errno = STUB_ENAMETOOLONG;
        return 0;
    }
    /* The library may write to the whole buffer, since the result may be as long as PATH_MAX
     * allows. */
    into[LONGEST - 1] = 0;
    memcpy(into, path, n);
    free(path);
    return into;
}

/* The working folder is a string of channel "cwd". */
STUB char *CRUNNER_getcwd(char *into, size_t n) {
    if (into && !n) {
        stub_errno = STUB_EINVAL;
        return 0;
    }
    if (crunner_fault("getcwd", E(EACCES) | E(ENOENT) | E(ENOMEM), 0)) return 0;
    char *path = crunner_choose_string("cwd");
    char *whole = path ? crunner_channel("/", path) : 0;
    free(path);
    if (!whole || (!into && !n)) return whole;
    if (strlen(whole) >= n) {
        stub_errno = STUB_ERANGE;
        free(whole);
        return 0;
    }
    char *result = into ? into : crunner_granted_malloc(n);
    if (result) memcpy(result, whole, strlen(whole) + 1);
    free(whole);
    return result;
}

struct folder {
    char *channel;
    long count;
    struct dirent entry;
};

STUB struct folder *CRUNNER_opendir(const char *name) {
    char *channel = crunner_channel("dir:", name);
    if (!channel) {
        stub_errno = STUB_ENOMEM;
        return 0;
    }
    if (!(crunner_choose_byte(channel) & 1)) {
        free(channel);
        missing();
        return 0;
    }
    int fault = crunner_fault("opendir", BY_NAME | E(EMFILE) | E(ENFILE), 0);
    struct folder *folder = fault ? 0 : crunner_handle(sizeof *folder);
    if (!folder) {
        free(channel);
        if (!fault) stub_errno = STUB_ENOMEM;
        return 0;
    }
    folder->channel = channel;
    return folder;
}

STUB struct dirent *CRUNNER_readdir(struct folder *folder) {
    if (crunner_fault("readdir", E(EIO) | E(EBADF) | E(ENOENT), E(EOVERFLOW))) return 0;
    if (!(crunner_choose_byte(folder->channel) & 1)) return 0;
    folder->entry.d_ino = (unsigned long)++folder->count;
    folder->entry.d_type = DT_REG;
    if (!crunner_assumed("files")) folder->entry.d_type ^= crunner_choose_byte("d_type") & 15;
    /* A name is not empty and contains no slash. */
    size_t length = crunner_read_string(folder->channel, folder->entry.d_name,
                                        sizeof folder->entry.d_name);
    crunner_assume(length > 0);
    for (size_t i = 0; i < length; i++) crunner_assume(folder->entry.d_name[i] != '/');
    folder->entry.d_reclen = (unsigned short)((offsetof(struct dirent, d_name) + length + 8)
                                              & ~(size_t)7);
    return &folder->entry;
}

STUB int CRUNNER_closedir(struct folder *folder) {
    free(folder->channel);
    crunner_handle_back(folder);
    return crunner_fault("closedir", E(EIO) | E(EINTR), 0) ? -1 : 0;
}
