/* Names in the file system. A folder's entries are a channel "dir:NAME": a presence byte, then per entry a presence
 * byte and a string. Making folders and changing modes works; links are not there. */
#include "allocation.h"
#include "file_store.h"
#include <dirent.h>
#include <sys/stat.h>

static int missing(void) {
    stub_errno = STUB_ENOENT;
    return -1;
}

STUB int CRUNNER_remove(const char *name) {
    struct crunner_content *file = crunner_content(name);
    if (!file || !crunner_content_exists(file)) return missing();
    if (output_fails("remove")) {
        stub_errno = STUB_EPERM;
        return -1;
    }
    crunner_content_remove(file);
    return 0;
}
STUB int CRUNNER_unlink(const char *name) { return CRUNNER_remove(name); }
STUB int CRUNNER_unlinkat(int folder, const char *name, int flags) { return CRUNNER_remove(name); }
STUB int CRUNNER_rmdir(const char *name) { return output_fails("rmdir") ? -1 : 0; }

STUB int CRUNNER_rename(const char *from, const char *to) {
    struct crunner_content *file = crunner_content(from);
    if (!file || !crunner_content_exists(file)) return missing();
    if (output_fails("rename")) {
        stub_errno = STUB_EPERM;
        return -1;
    }
    crunner_content_rename(file, to);
    return 0;
}

STUB int CRUNNER_mkdir(const char *name, unsigned mode) { return output_fails("mkdir") ? -1 : 0; }
STUB int CRUNNER_chdir(const char *name) { return output_fails("chdir") ? -1 : 0; }
STUB int CRUNNER_chmod(const char *name, unsigned mode) { return output_fails("chmod") ? -1 : 0; }
STUB int CRUNNER_fchmod(int fd, unsigned mode) { return output_fails("chmod") ? -1 : 0; }
STUB int CRUNNER_chown(const char *name, unsigned user, unsigned group) { return output_fails("chown") ? -1 : 0; }
STUB int CRUNNER_utime(const char *name, const void *times) { return 0; }
STUB int CRUNNER_utimes(const char *name, const void *times) { return 0; }
STUB unsigned CRUNNER_umask(unsigned mask) { return 022; }

static int no_links(void) {
    stub_errno = STUB_EPERM;
    return -1;
}
STUB int CRUNNER_link(const char *from, const char *to) { return no_links(); }
STUB int CRUNNER_symlink(const char *from, const char *to) { return no_links(); }
STUB long CRUNNER_readlink(const char *restrict name, char *restrict into, size_t n) {
    stub_errno = STUB_EINVAL;
    return -1;
}

STUB char *CRUNNER_realpath(const char *restrict name, char *restrict into) {
    struct crunner_content *file = crunner_content(name);
    if (!file || !crunner_content_exists(file)) {
        missing();
        return 0;
    }
    if (!into) return crunner_channel(*name == '/' ? "" : "/", name);
    if (*name != '/') *into++ = '/';
    memcpy(into, name, strlen(name) + 1);
    return *name == '/' ? into : into - 1;
}

/* The working folder is a string of channel "cwd". */
STUB char *CRUNNER_getcwd(char *into, size_t n) {
    char *path = crunner_choose_string("cwd");
    char *whole = path ? crunner_channel("/", path) : 0;
    free(path);
    if (!whole || !into) return whole;
    if (strlen(whole) >= n) {
        stub_errno = STUB_ERANGE;
        free(whole);
        return 0;
    }
    memcpy(into, whole, strlen(whole) + 1);
    free(whole);
    return into;
}

struct folder {
    char *channel;
    long count;
    struct dirent entry;
};

STUB struct folder *CRUNNER_opendir(const char *name) {
    char *channel = crunner_channel("dir:", name);
    struct folder *folder = channel && (crunner_choose_byte(channel) & 1) ? crunner_granted_calloc(1, sizeof *folder) : 0;
    if (!folder) {
        free(channel);
        missing();
        return 0;
    }
    folder->channel = channel;
    return folder;
}

STUB struct dirent *CRUNNER_readdir(struct folder *folder) {
    if (!(crunner_choose_byte(folder->channel) & 1)) return 0;
    folder->entry.d_ino = (unsigned long)++folder->count;
    folder->entry.d_reclen = sizeof folder->entry;
    folder->entry.d_type = DT_REG;
    crunner_read_string(folder->channel, folder->entry.d_name, sizeof folder->entry.d_name);
    return &folder->entry;
}

STUB int CRUNNER_closedir(struct folder *folder) {
    free(folder->channel);
    free(folder);
    return 0;
}
