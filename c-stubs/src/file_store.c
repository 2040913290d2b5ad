/* Files: what they hold is chosen, and stays what it was.
 *
 * A file's bytes come from its channel "file:NAME" as they are read, first a presence byte (lowest bit 0: there is no
 * such file), then a stream. What was read is kept, so that rewinding, seeking, or opening the file again shows the
 * same bytes, and what the program wrote is what it reads back. Standard input is a pipe: nothing is kept of it and it
 * cannot be rewound, which keeps the usual program cheap.
 */
#include "file_store.h"

struct crunner_content {
    struct crunner_content *next;
    char *name, *channel;
    unsigned char *bytes;
    size_t length, capacity;
    enum { UNKNOWN, ABSENT, PRESENT } state;
    int complete; /* nothing more comes from the channel */
};

#define DESCRIPTORS 24

static struct crunner_content *files;
static struct {
    struct crunner_content *file;
    size_t at;
    unsigned char readable, writable, append;
} open_files[DESCRIPTORS];
static unsigned char standard_closed[3];
static int stdin_ended;

static void release(void) {
    while (files) {
        struct crunner_content *file = files;
        files = file->next;
        free(file->bytes);
        free(file->channel);
        free(file->name);
        free(file);
    }
}

STUB struct crunner_content *crunner_content(const char *name) {
    struct crunner_content *file;
    for (file = files; file; file = file->next)
        if (strcmp(file->name, name) == 0) return file;
    file = calloc(1, sizeof *file);
    if (!file) return 0;
    file->name = crunner_channel("", name);
    file->channel = crunner_channel("file:", name);
    if (!file->name || !file->channel) {
        free(file->name);
        free(file->channel);
        free(file);
        return 0;
    }
    if (!files) crunner_at_end(release);
    file->next = files;
    files = file;
    return file;
}

STUB int crunner_content_exists(struct crunner_content *file) {
    if (file->state == UNKNOWN) file->state = crunner_choose_byte(file->channel) & 1 ? PRESENT : ABSENT;
    return file->state == PRESENT;
}

STUB void crunner_content_create(struct crunner_content *file) {
    file->state = PRESENT;
    crunner_content_truncate(file, 0);
}

STUB void crunner_content_remove(struct crunner_content *file) {
    file->state = ABSENT;
    crunner_content_truncate(file, 0);
}

STUB void crunner_content_rename(struct crunner_content *file, const char *name) {
    struct crunner_content *replaced = crunner_content(name);
    char *other;
    if (!replaced || replaced == file) return;
    other = replaced->name;
    replaced->name = file->name;
    file->name = other;
    crunner_content_remove(replaced);
}

static int room(struct crunner_content *file, size_t needed) {
    size_t capacity = file->capacity ? file->capacity : 64;
    unsigned char *bytes;
    if (needed <= file->capacity) return 1;
    while (capacity < needed) capacity *= 2;
    bytes = realloc(file->bytes, capacity);
    if (!bytes) return 0;
    file->bytes = bytes;
    file->capacity = capacity;
    return 1;
}

static int pull(struct crunner_content *file) {
    int c;
    if (file->complete || !room(file, file->length + 1)) return 0;
    c = crunner_stream_byte(file->channel);
    if (c < 0) {
        file->complete = 1;
        return 0;
    }
    file->bytes[file->length++] = (unsigned char)c;
    return 1;
}

STUB int crunner_content_byte(struct crunner_content *file, size_t at) {
    while (at >= file->length)
        if (!pull(file)) return -1;
    return file->bytes[at];
}

STUB size_t crunner_content_size(struct crunner_content *file) {
    while (pull(file)) {}
    return file->length;
}

STUB int crunner_content_put(struct crunner_content *file, size_t at, unsigned char byte) {
    while (at > file->length && pull(file)) {}
    if (!room(file, at + 1)) return 0;
    while (file->length < at) file->bytes[file->length++] = 0;
    /* What is overwritten before it was read still has to leave the channel, or the next byte would take its place. */
    if (at == file->length && !pull(file)) file->length++;
    file->bytes[at] = byte;
    return 1;
}

STUB void crunner_content_truncate(struct crunner_content *file, size_t size) {
    if (size == 0) file->length = 0;
    else if (crunner_content_byte(file, size - 1) < 0) crunner_content_put(file, size - 1, 0);
    else file->length = size;
    file->complete = 1;
}

STUB int crunner_descriptor_open(struct crunner_content *file, int readable, int writable, int append) {
    for (int fd = 3; fd < DESCRIPTORS; fd++) {
        if (open_files[fd].file) continue;
        open_files[fd].file = file;
        open_files[fd].at = 0;
        open_files[fd].readable = (unsigned char)readable;
        open_files[fd].writable = (unsigned char)writable;
        open_files[fd].append = (unsigned char)append;
        return fd;
    }
    stub_errno = STUB_EMFILE;
    return -1;
}

STUB int crunner_descriptor_valid(int fd) {
    if (fd >= 0 && fd < 3) return !standard_closed[fd];
    return fd >= 3 && fd < DESCRIPTORS && open_files[fd].file != 0;
}

STUB int crunner_descriptor_readable(int fd) {
    return crunner_descriptor_valid(fd) && (fd == 0 || (fd > 2 && open_files[fd].readable));
}

STUB int crunner_descriptor_writable(int fd) {
    return crunner_descriptor_valid(fd) && (fd == 1 || fd == 2 || (fd > 2 && open_files[fd].writable));
}

STUB int crunner_descriptor_close(int fd) {
    if (!crunner_descriptor_valid(fd)) {
        stub_errno = STUB_EBADF;
        return -1;
    }
    if (fd < 3) standard_closed[fd] = 1;
    else open_files[fd].file = 0;
    return 0;
}

STUB int crunner_descriptor_byte(int fd) {
    int c;
    if (fd == 0) {
        if (stdin_ended) return -1;
        c = crunner_stream_byte("stdin");
        if (c < 0) stdin_ended = 1;
        return c;
    }
    c = crunner_content_byte(open_files[fd].file, open_files[fd].at);
    if (c >= 0) open_files[fd].at++;
    return c;
}

STUB int crunner_descriptor_write(int fd, const unsigned char *bytes, size_t n) {
    crunner_output(fd, bytes, n);
    if (fd < 3) return 1;
    struct crunner_content *file = open_files[fd].file;
    if (open_files[fd].append) {
        /* Appending to what nobody has read: the old bytes need not be known, and are not asked for. */
        if (!file->complete && !open_files[fd].readable) return 1;
        open_files[fd].at = crunner_content_size(file);
    }
    for (size_t i = 0; i < n; i++)
        if (!crunner_content_put(file, open_files[fd].at++, bytes[i])) return 0;
    return 1;
}

STUB long crunner_descriptor_seek(int fd, long offset, int whence) {
    long base = 0;
    if (!crunner_descriptor_valid(fd)) {
        stub_errno = STUB_EBADF;
        return -1;
    }
    if (fd < 3) {
        stub_errno = STUB_ESPIPE;
        return -1;
    }
    if (whence == 1) base = (long)open_files[fd].at;
    else if (whence == 2) base = (long)crunner_content_size(open_files[fd].file);
    else if (whence != 0) base = LONG_MIN;
    if (base == LONG_MIN || (offset > 0 && base > LONG_MAX - offset) || base + offset < 0) {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    open_files[fd].at = (size_t)(base + offset);
    return base + offset;
}

STUB struct crunner_content *crunner_descriptor_content(int fd) {
    return fd > 2 && crunner_descriptor_valid(fd) ? open_files[fd].file : 0;
}
