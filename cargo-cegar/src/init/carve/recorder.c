/* Records the calls of a library's functions in the process of a test that is not aware of it.
 *
 * The recording must not affect the test. So memory is read through the kernel (/proc/self/mem),
 * which reports an error where a wild pointer would crash, and nothing is allocated. Each call is
 * written to disk before it begins, so that the trace of a test that aborts or is killed is
 * complete up to there. Nested calls are internal to the library and are not recorded. A child of
 * fork() records nothing, because its parent continues to write to the file.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LONGEST (64u << 10)
#define SCALARS 8
#define TEXT 4096
#define WHOLE (16ul << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* -2: not opened yet, -1: nothing is recorded. It is read without the lock, so it is set only after
 * everything else is initialised. */
static _Atomic int file = -2;
static int memory = -1;
static pid_t owner;
static unsigned long calls, written;
static __thread int depth;
static char line[8 * LONGEST];
static size_t length;
static unsigned char bytes[LONGEST];

static void put(const char *text) {
    size_t n = strlen(text);
    if (n > sizeof line - length) n = sizeof line - length;
    memcpy(line + length, text, n);
    length += n;
}

static void put_number(uint64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%llx", (unsigned long long)number);
    put(text);
}

static void flush(void) {
    size_t at = 0;
    while (at < length) {
        ssize_t n = write(file, line + at, length - at);
        if (n <= 0) break;
        at += (size_t)n;
    }
    written += length;
    length = 0;
}

static void open_file(void) {
    const char *folder = getenv("CEGAR_RECORD");
    char path[4096];
    int opened = -1;
    owner = getpid();
    if (folder) {
        snprintf(path, sizeof path, "%s/%ld.trace", folder, (long)owner);
        memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    }
    file = opened;
}

/* Reads up to `wanted` bytes at an address into `bytes`; returns how many were readable. */
static size_t peek(uint64_t address, size_t wanted) {
    size_t at = 0;
    if (wanted > sizeof bytes) wanted = sizeof bytes;
    while (at < wanted) {
        ssize_t n = memory < 0 ? -1 : pread(memory, bytes + at, wanted - at, (off_t)(address + at));
        if (n <= 0) break;
        at += (size_t)n;
    }
    return at;
}

static void put_bytes(size_t n) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n && length + 2 <= sizeof line - 256; i++) {
        line[length++] = digits[bytes[i] >> 4];
        line[length++] = digits[bytes[i] & 15];
    }
}

/* Writes the memory behind a pointer: at least the size of its type, as many elements as any
 * integer of the call may count, and a string up to its NUL. */
static void put_memory(const struct cegar_value *values, size_t count,
                       const struct cegar_value *value) {
    size_t wanted = value->unit > 1 ? value->unit : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = values[i].bits;
        if (values[i].kind == CEGAR_POINTER && values[i].unit >= 4 && values[i].unit <= 8
            && values[i].bits) {
            number = 0;
            if (peek(values[i].bits, values[i].unit) == values[i].unit)
                memcpy(&number, bytes, values[i].unit);
        } else if (values[i].kind != CEGAR_INT) {
            continue;
        }
        if (value->unit <= 8 && number <= LONGEST) {
            size_t all = (size_t)number * (value->unit > 1 ? value->unit : 1);
            if (all > wanted) wanted = all;
        }
    }
    size_t n = 0;
    if (value->text && value->unit == 1) {
        n = peek(value->bits, TEXT);
        const unsigned char *end = memchr(bytes, 0, n);
        size_t text = end ? (size_t)(end - bytes) + 1 : 0;
        if (text > wanted) wanted = text;
    }
    n = peek(value->bits, wanted);
    put_bytes(n);
}

unsigned long cegar_recorder_begin(const char *name, const struct cegar_value *values,
                                   size_t count) {
    int error = errno;
    if (depth++ > 0 || file == -1) goto nothing;
    if (owner && owner != getpid()) goto nothing;
    pthread_mutex_lock(&lock);
    if (file == -2) open_file();
    if (file < 0 || written > WHOLE) {
        if (file >= 0) {
            put("N full\n");
            flush();
            file = -1;
        }
        pthread_mutex_unlock(&lock);
        goto nothing;
    }
    unsigned long call = ++calls;
    put("B ");
    put_number(call);
    put(" ");
    put_number((uint64_t)syscall(SYS_gettid));
    put(" ");
    put(name);
    for (size_t i = 0; i < count; i++) {
        char kind[] = {' ', (char)values[i].kind, 0};
        put(kind);
        put_number(values[i].bits);
        if (values[i].kind == CEGAR_POINTER) {
            put(":");
            if (values[i].bits) put_memory(values, count, &values[i]);
        }
    }
    put("\n");
    flush();
    pthread_mutex_unlock(&lock);
    errno = error;
    return call;
nothing:
    errno = error;
    return 0;
}

void cegar_recorder_end(unsigned long call, const struct cegar_value *values, size_t count,
                        struct cegar_value result) {
    int error = errno;
    if (depth > 0) depth--;
    if (!call || file < 0 || owner != getpid()) {
        errno = error;
        return;
    }
    pthread_mutex_lock(&lock);
    put("E ");
    put_number(call);
    char kind[] = {' ', (char)result.kind, 0};
    put(kind);
    put_number(result.bits);
    for (size_t i = 0; i < count; i++) {
        const struct cegar_value *value = &values[i];
        if (value->kind != CEGAR_POINTER || !value->written || !value->bits || !value->unit
            || value->unit > SCALARS)
            continue;
        if (value->unit == 1) continue;
        char at[24];
        snprintf(at, sizeof at, " %zx:", i);
        put(at);
        put_bytes(peek(value->bits, value->unit));
    }
    put("\n");
    flush();
    pthread_mutex_unlock(&lock);
    errno = error;
}
