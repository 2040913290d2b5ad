/* Files: their content is chosen, and persists.
 *
 * A file's bytes come from its channel "file:NAME" as they are read: first a presence byte (lowest
 * bit 0: the file does not exist), then a stream. The bytes that were read are stored, so that
 * rewinding, seeking, or opening the file again yields the same bytes, and what the program wrote
 * is what it reads back: no other process changes a file, which is the narrowing "files". Standard
 * input is a pipe: nothing of it is stored and it cannot be rewound, which makes typical programs
 * cheap.
 *
 * A descriptor is a number for an open file. Several descriptors may share one open file (dup) and
 * its position. The pipes that a program creates hold what it wrote into them until it forks; from
 * then on they may hold anything. */
#include "file_store.h"

struct crunner_content {
    struct crunner_content *next;
    char *name, *channel;
    unsigned char *bytes;
    size_t length, capacity;
    enum { UNKNOWN, ABSENT, PRESENT } state;
    int complete; /* nothing more comes from the channel */
    int unlinked; /* visible only through descriptors that are open */
    int pipe;
};

#define DESCRIPTORS 24
/* The initial capacity of a file. The block does not move up to this size, since less can be proved
 * about a block that grows. Longer files are excluded by the narrowing "files". */
#define ENOUGH (1u << 16)

static struct crunner_content *files;
static struct description {
    struct crunner_content *file;
    size_t at;
    size_t appended; /* bytes appended while unread; the channel's bytes end with them */
    unsigned char uses, readable, writable, append;
    unsigned char to_end; /* the position is the end of the file, which is not determined yet */
    int error;            /* the error that the next read reports */
} descriptions[DESCRIPTORS] = {
    {.uses = 1, .readable = 1}, {.uses = 1, .writable = 1}, {.uses = 1, .writable = 1}};
/* For each descriptor: one more than the index of its description, or 0 if it is closed. The
 * standard descriptors come first. */
static unsigned char table[DESCRIPTORS] = {1, 2, 3};
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
        if (!file->unlinked && strcmp(file->name, name) == 0) return file;
    file = calloc(1, sizeof *file);
    if (!file) return 0;
    file->name = crunner_channel("", name);
    file->channel = crunner_channel("file:", name);
    file->bytes = malloc(ENOUGH);
    file->capacity = ENOUGH;
    if (!file->name || !file->channel || !file->bytes) {
        free(file->bytes);
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
    if (file->state == UNKNOWN)
        file->state = crunner_choose_byte(file->channel) & 1 ? PRESENT : ABSENT;
    return file->state == PRESENT;
}

STUB int crunner_content_is_there(struct crunner_content *file) { return file->state == PRESENT; }

STUB void crunner_content_create(struct crunner_content *file) {
    file->state = PRESENT;
    crunner_content_truncate(file, 0);
}

/* Open descriptors keep the file, while the name stands for a file that does not exist. */
STUB void crunner_content_remove(struct crunner_content *file) {
    file->unlinked = 1;
    struct crunner_content *none = crunner_content(file->name);
    if (!none) {
        file->unlinked = 0;
        none = file;
        crunner_content_truncate(file, 0);
    }
    none->state = ABSENT;
    none->complete = 1;
}

STUB void crunner_content_rename(struct crunner_content *file, const char *name) {
    struct crunner_content *replaced = crunner_content(name), *left;
    char *other;
    if (!replaced || replaced == file) return;
    replaced->unlinked = 1;
    other = replaced->name;
    replaced->name = file->name;
    file->name = other;
    left = crunner_content(replaced->name);
    if (!left) return;
    left->state = ABSENT;
    left->complete = 1;
}

static int room(struct crunner_content *file, size_t needed) {
    if (needed <= ENOUGH) return 1;
    if (crunner_assumed("files")) crunner_assume(0);
    if (needed <= file->capacity) return 1;
    size_t capacity = file->capacity;
    while (capacity < needed) capacity *= 2;
    unsigned char *bytes = realloc(file->bytes, capacity);
    if (!bytes) return 0;
    file->bytes = bytes;
    file->capacity = capacity;
    return 1;
}

/* Reads one more byte from the channel. Returns 1, 0 if there is none, or a fault. */
static int pull(struct crunner_content *file) {
    int c;
    if (file->complete || !room(file, file->length + 1)) return 0;
    c = crunner_input_byte(file->channel);
    if (c < -1) return c;
    if (c < 0) {
        file->complete = 1;
        return 0;
    }
    file->bytes[file->length++] = (unsigned char)c;
    return 1;
}

/* The same without a reader. Runs with a fault are rejected, since it would belong to a later
 * read. */
static int pulled(struct crunner_content *file) {
    int got = pull(file);
    crunner_assume(got >= 0);
    return got > 0;
}

STUB int crunner_content_byte(struct crunner_content *file, size_t at) {
    if (at < file->length) {
        /* This byte was read before or written by this program. Without the narrowing, another
         * program may have changed it since. */
        if (!file->pipe && !crunner_assumed("files"))
            file->bytes[at] ^= crunner_choose_byte("files");
        return file->bytes[at];
    }
    while (at >= file->length) {
        int got = pull(file);
        if (got <= 0) return got ? got : -1;
    }
    return file->bytes[at];
}

STUB size_t crunner_content_size(struct crunner_content *file) {
    while (pulled(file)) {}
    return file->length;
}

STUB int crunner_content_put(struct crunner_content *file, size_t at, unsigned char byte) {
    while (at > file->length && pulled(file)) {}
    if (!room(file, at + 1)) return 0;
    while (file->length < at) file->bytes[file->length++] = 0;
    /* A byte that is overwritten before it was read must still be taken from the channel, or the
     * next byte would take its place. */
    if (at == file->length && !pulled(file)) file->length++;
    file->bytes[at] = byte;
    return 1;
}

STUB void crunner_content_truncate(struct crunner_content *file, size_t size) {
    if (size == 0) file->length = 0;
    else if (crunner_content_byte(file, size - 1) < 0) crunner_content_put(file, size - 1, 0);
    else file->length = size;
    file->complete = 1;
}

/* ---- descriptors ---- */

static struct description *described(int fd) {
    return fd >= 0 && fd < DESCRIPTORS && table[fd] ? &descriptions[table[fd] - 1] : 0;
}

/* Assigns the lowest free descriptor from `fd` on to this description; -1 if all are in use. */
static int number(int fd, int description) {
    for (; fd < DESCRIPTORS; fd++)
        if (!table[fd]) {
            table[fd] = (unsigned char)(description + 1);
            return fd;
        }
    if (!crunner_assumed("files"))
        crunner_unmodelled("more descriptors than the model has room for");
    stub_errno = STUB_EMFILE;
    return -1;
}

STUB int crunner_descriptor_open(struct crunner_content *file, int readable, int writable,
                                 int append) {
    int slot = 3;
    if (!crunner_assumed("descriptors"))
        crunner_unmodelled("the descriptors that were open before the program began");
    while (slot < DESCRIPTORS && descriptions[slot].uses) slot++;
    int fd = number(slot < DESCRIPTORS ? 0 : DESCRIPTORS, slot);
    if (fd < 0) return -1;
    descriptions[slot] = (struct description){.file = file,
                                              .uses = 1,
                                              .readable = (unsigned char)readable,
                                              .writable = (unsigned char)writable,
                                              .append = (unsigned char)append};
    return fd;
}

STUB int crunner_descriptor_copy(int fd, int least) {
    struct description *from = described(fd);
    int copy = number(least, (int)(from - descriptions));
    if (copy >= 0) from->uses++;
    return copy;
}

STUB void crunner_descriptor_replace(int fd, int wanted) {
    crunner_descriptor_close(wanted);
    table[wanted] = table[fd];
    described(fd)->uses++;
}

STUB int crunner_descriptor_valid(int fd) { return described(fd) != 0; }
STUB int crunner_descriptor_room(int fd) { return fd >= 0 && fd < DESCRIPTORS; }

STUB int crunner_descriptor_readable(int fd) {
    struct description *d = described(fd);
    return d && d->readable;
}

STUB int crunner_descriptor_writable(int fd) {
    struct description *d = described(fd);
    return d && d->writable;
}

STUB int crunner_descriptor_refused(int fd) {
    struct description *d = described(fd);
    if (d && d < descriptions + 3) {
        if (!crunner_assumed("stdin"))
            crunner_unmodelled("a standard stream that is open in both directions");
    } else if (!d && fd >= 0 && !crunner_assumed("descriptors")) {
        crunner_unmodelled("the descriptors that were open before the program began");
    }
    stub_errno = STUB_EBADF;
    return -1;
}

STUB int crunner_descriptor_close(int fd) {
    struct description *d = described(fd);
    if (!d) return crunner_descriptor_refused(fd);
    table[fd] = 0;
    d->uses--;
    return 0;
}

/* Whether a descriptor of this process reads from, or writes to, the pipe. */
static int is_open(struct crunner_content *pipe, int writable) {
    for (int i = 3; i < DESCRIPTORS; i++)
        if (descriptions[i].uses && descriptions[i].file == pipe
            && descriptions[i].writable == writable)
            return 1;
    return 0;
}
static int written_to(struct crunner_content *pipe) { return is_open(pipe, 1); }

/* A forked process may still read the pipe. */
STUB int crunner_descriptor_is_broken_pipe(int fd) {
    struct description *d = described(fd);
    return d && d->file && d->file->pipe && !crunner_forked && !is_open(d->file, 0);
}

static void find_end(struct description *d) {
    if (!d->to_end) return;
    d->at = crunner_content_size(d->file);
    crunner_assume(d->at >= d->appended);
    d->to_end = 0;
}

STUB int crunner_descriptor_byte(int fd) {
    struct description *d = described(fd);
    int c;
    if (d == &descriptions[0]) {
        if (stdin_ended) return -1;
        c = crunner_input_byte("stdin");
        if (c == -1) stdin_ended = 1;
        return c;
    }
    if (d->file->pipe && d->at == d->file->length) {
        if (crunner_forked) return crunner_input_byte("pipe");
        /* No process can write more. A read would block for ever, unless all writers are closed. */
        crunner_assume(!written_to(d->file));
        return -1;
    }
    find_end(d);
    c = crunner_content_byte(d->file, d->at);
    if (c >= 0) d->at++;
    return c;
}

STUB int *crunner_descriptor_error(int fd) { return &described(fd)->error; }

STUB int crunner_descriptor_is_empty_pipe(int fd) {
    struct description *d = described(fd);
    return d && d->file && d->file->pipe && d->at == d->file->length && !crunner_forked
           && written_to(d->file);
}

STUB int crunner_descriptor_write(int fd, const unsigned char *bytes, size_t n) {
    struct description *d = described(fd);
    crunner_output(d->file ? fd : (int)(d - descriptions), bytes, n);
    if (!d->file) return 1;
    struct crunner_content *file = d->file;
    if (file->pipe) {
        d->at = file->length;
    } else if (d->append) {
        d->to_end = 0;
        /* When appending to unread bytes, the old bytes need not be known, so they are not
         * chosen. */
        if (!file->complete && !d->readable) {
            d->appended += n;
            d->to_end = 1;
            return 1;
        }
        d->at = crunner_content_size(file);
    }
    for (size_t i = 0; i < n; i++)
        if (!crunner_content_put(file, d->at++, bytes[i])) return 0;
    return 1;
}

STUB void crunner_descriptor_to_end(int fd) { described(fd)->to_end = 1; }
STUB void crunner_descriptor_append(int fd) { described(fd)->append = 1; }
STUB int crunner_descriptor_appends(int fd) {
    struct description *d = described(fd);
    return d && d->append;
}

/* Whether descriptors were used through streams, or by number. Two variables for all descriptors,
 * since facts about single elements of an array are lost. */
static unsigned char by_stream, by_number;

static void use_both(void) {
    if (!crunner_assumed("buffers"))
        crunner_unmodelled(
            "a descriptor with a stream whose buffer holds what was read or written");
}
STUB void crunner_descriptors_by_stream(void) {
    if (by_stream) return;
    by_stream = 1;
    if (by_number) use_both();
}
STUB void crunner_descriptors_by_number(void) {
    if (by_number) return;
    by_number = 1;
    if (by_stream) use_both();
}

STUB long crunner_descriptor_seek(int fd, long offset, int whence) {
    struct description *d = described(fd);
    long base = 0;
    if (!d) {
        stub_errno = STUB_EBADF;
        return -1;
    }
    if (!d->file && !crunner_assumed("stdin"))
        crunner_unmodelled("a standard stream that has a position");
    if (d->file && whence == 1) find_end(d);
    d->to_end = 0;
    if (!d->file || d->file->pipe) {
        stub_errno = STUB_ESPIPE;
        return -1;
    }
    if (whence == 1) base = (long)d->at;
    else if (whence == 2) base = (long)crunner_content_size(d->file);
    else if (whence != 0) base = LONG_MIN;
    if (base == LONG_MIN || (offset > 0 && base > LONG_MAX - offset) || base + offset < 0) {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    d->at = (size_t)(base + offset);
    return base + offset;
}

STUB struct crunner_content *crunner_descriptor_content(int fd) {
    struct description *d = described(fd);
    return d ? d->file : 0;
}

STUB int crunner_content_is_pipe(struct crunner_content *file) { return file && file->pipe; }

/* Opens both ends of a new pipe. 0: no memory, or too many descriptors. */
STUB int crunner_pipe_open(int ends[2]) {
    static char name[] = "pipe 0";
    struct crunner_content *pipe = crunner_content(name);
    if (!pipe) {
        stub_errno = STUB_ENOMEM;
        return 0;
    }
    pipe->unlinked = pipe->pipe = pipe->complete = 1;
    pipe->state = PRESENT;
    ends[0] = crunner_descriptor_open(pipe, 1, 0, 0);
    if (ends[0] < 0) return 0;
    ends[1] = crunner_descriptor_open(pipe, 0, 1, 1);
    if (ends[1] >= 0) return 1;
    crunner_descriptor_close(ends[0]);
    return 0;
}
