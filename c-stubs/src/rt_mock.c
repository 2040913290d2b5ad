/* The native runtime of generated tests: a mock environment with one queue of bytes per channel.
 *
 * The queues come from the file named by CEGAR_MOCK: "CEGMOCK1", then for each channel the length
 * of its name (u32), the name, the number of bytes (u64) and the bytes, all little-endian. A
 * channel without a queue is empty: it yields zeros, and the end of every stream. Without
 * CEGAR_MOCK all channels are empty.
 *
 * There is one run per process. How it ended is written to the descriptor CEGAR_REPORT_FD (default:
 * stderr) as one line of JSON:
 *     {"outcome":"exited","status":0,"kind":null,"what":"","file":"","line":0,"leaked":0,
 *      "exhausted":["stdin"],"unread":{"data":3},"output":[[1,"text"]]}
 * Calls of external functions appear in "output" too, in order, as stream -1: the name and the
 * parameters. Bytes outside ASCII are written as \u0080 to \u00ff. The process's exit status is 0
 * (returned, exited), 3 (rejected), 70 (violated), 71 (out of memory) or 72 (the mock file is
 * unreadable). Signals and sanitizers kill the process as usual. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "crunner_rt.h"
#include "rt_heap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void cegar_entry(void);

struct queue {
    struct queue *next;
    char *channel;
    const uint8_t *bytes;
    size_t length, at;
    int exhausted;
};

uint32_t __cegar_check = CRUNNER_NO_CHECK;

static struct queue *queues;
static uint32_t asked_in_vain;
static struct crunner_heap *heap;
static struct piece {
    struct piece *next;
    int stream;
    size_t length;
    char bytes[];
} *first_piece, **last_piece = &first_piece;
static size_t output_length;
#define OUTPUT_LIMIT (1u << 20)

_Noreturn static void unusable(const char *why, const char *name) {
    fprintf(stderr, "mock environment: %s: %s\n", name, why);
    _exit(72);
}

static struct queue *add_queue(const char *name, size_t length, const uint8_t *bytes, size_t n) {
    struct queue *q = calloc(1, sizeof *q);
    if (!q || !(q->channel = malloc(length + 1))) unusable("no memory", "queue");
    memcpy(q->channel, name, length);
    q->channel[length] = 0;
    q->bytes = bytes;
    q->length = n;
    q->next = queues;
    queues = q;
    return q;
}

static struct queue *queue(const char *channel) {
    for (struct queue *q = queues; q; q = q->next)
        if (strcmp(q->channel, channel) == 0) return q;
    return add_queue(channel, strlen(channel), NULL, 0);
}

static uint64_t number(const uint8_t *at, int bytes) {
    uint64_t v = 0;
    for (int i = bytes; i-- > 0;) v = v << 8 | at[i];
    return v;
}

static void load(const char *path) {
    FILE *in = fopen(path, "rb");
    uint8_t *all = NULL;
    size_t length = 0, room = 0, got, at = 8;
    if (!in) unusable(strerror(errno), path);
    do {
        if (room - length < 65536) {
            room = room ? room * 2 : 65536 * 2;
            if (!(all = realloc(all, room))) unusable("no memory", path);
        }
        got = fread(all + length, 1, room - length, in);
        length += got;
    } while (got);
    if (ferror(in)) unusable("cannot be read", path);
    fclose(in);
    if (length < 8 || memcmp(all, "CEGMOCK1", 8)) unusable("is no mock environment", path);
    while (at < length) {
        if (length - at < 4) unusable("is cut short", path);
        size_t name = number(all + at, 4);
        at += 4;
        if (length - at < name || length - at - name < 8) unusable("is cut short", path);
        uint64_t n = number(all + at + name, 8);
        if (length - at - name - 8 < n) unusable("is cut short", path);
        add_queue((char *)all + at, name, all + at + name + 8, n);
        at += name + 8 + n;
    }
}

/* ---- functions for the program ---- */

_Noreturn static void report(const char *outcome, int status, const char *kind, const char *what,
                             const char *file, unsigned line, int code);

/* A queue holds less than what is asked for. The number of such requests is limited, since a test
 * of corrected code must end too. */
static void found_empty(struct queue *q) {
    q->exhausted = 1;
    if (++asked_in_vain > CRUNNER_ASKED_IN_VAIN) report("exited", 0, NULL, NULL, NULL, 0, 0);
}

void crunner_choose(const char *channel, void *into, size_t n) {
    struct queue *q = queue(channel);
    size_t left = q->length - q->at, taken = n < left ? n : left;
    if (taken) memcpy(into, q->bytes + q->at, taken);
    q->at += taken;
    if (taken < n) {
        memset((char *)into + taken, 0, n - taken);
        found_empty(q);
    }
}

size_t crunner_remaining(const char *channel) {
    struct queue *q = queue(channel);
    if (q->at == q->length) found_empty(q);
    return q->length - q->at;
}

size_t crunner_object_size(const void *p) {
    (void)p;
    return 0;
}

void crunner_output(int stream, const void *bytes, size_t n) {
    if (output_length >= OUTPUT_LIMIT) return;
    if (n > OUTPUT_LIMIT - output_length) n = OUTPUT_LIMIT - output_length;
    struct piece *p = malloc(sizeof *p + n);
    if (!p) return;
    p->next = NULL;
    p->stream = stream;
    p->length = n;
    memcpy(p->bytes, bytes, n);
    *last_piece = p;
    last_piece = &p->next;
    output_length += n;
}

/* ---- closures ---- */

/* An external function is called. If the test has a closure for it, the closure's answer is put at
 * the front of the queue. */
void crunner_asked(const char *channel, const unsigned long long *words, int n) {
    static int fd = -2;
    char reply[80];
    size_t length = 0;
    char call[1024];
    int used = snprintf(call, sizeof call, "%s", channel);
    for (int i = 0; i < n && used > 0 && (size_t)used < sizeof call; i++)
        used += snprintf(call + used, sizeof call - (size_t)used, " %llx", words[i]);
    if (used > 0)
        crunner_output(-1, call, (size_t)used < sizeof call ? (size_t)used : sizeof call - 1);
    if (fd == -2) {
        const char *number = getenv("CEGAR_ANSWER_FD");
        fd = number && *number ? atoi(number) : -1;
    }
    if (fd < 0) return;
    dprintf(fd, "%s", channel);
    for (int i = 0; i < n; i++) dprintf(fd, " %llx", words[i]);
    dprintf(fd, "\n");
    for (char c; length < sizeof reply && read(fd, &c, 1) == 1 && c != '\n';) reply[length++] = c;
    if (!length || reply[0] != '+') return;
    struct queue *q = queue(channel);
    size_t count = (length - 1) / 2, left = q->length - q->at;
    uint8_t *bytes = malloc(count + left + 1);
    if (!bytes) unusable("no memory", "answer");
    for (size_t i = 0; i < count; i++) {
        char digits[3] = {reply[1 + 2 * i], reply[2 + 2 * i], 0};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    if (left) memcpy(bytes + count, q->bytes + q->at, left);
    q->bytes = bytes;
    q->length = count + left;
    q->at = 0;
}

/* ---- the report ---- */

static void json_text(FILE *out, const char *text, size_t n) {
    fputc('"', out);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f) fprintf(out, "\\u%04x", c);
        else fputc(c, out);
    }
    fputc('"', out);
}

static void json_string(FILE *out, const char *text) {
    json_text(out, text ? text : "", text ? strlen(text) : 0);
}

static void write_all(int fd, const char *text, size_t n) {
    while (n > 0) {
        ssize_t put = write(fd, text, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return;
        text += put;
        n -= (size_t)put;
    }
}

_Noreturn static void report(const char *outcome, int status, const char *kind, const char *what,
                             const char *file, unsigned line, int code) {
    char *text = NULL;
    size_t length = 0;
    const char *where = getenv("CEGAR_REPORT_FD"), *comma = "";
    FILE *out = open_memstream(&text, &length);
    if (!out) _exit(72);
    fprintf(out, "{\"outcome\":\"%s\",\"status\":%d,\"kind\":", outcome, status);
    if (kind) json_string(out, kind);
    else fputs("null", out);
    fputs(",\"what\":", out);
    json_string(out, what);
    fputs(",\"file\":", out);
    json_string(out, file);
    fprintf(out, ",\"line\":%u,\"leaked\":%llu,\"exhausted\":[", line,
            (unsigned long long)crunner_heap_live(heap));
    for (struct queue *q = queues; q; q = q->next)
        if (q->exhausted) {
            fputs(comma, out);
            json_string(out, q->channel);
            comma = ",";
        }
    fputs("],\"unread\":{", out);
    comma = "";
    for (struct queue *q = queues; q; q = q->next)
        if (q->at < q->length) {
            fputs(comma, out);
            json_string(out, q->channel);
            fprintf(out, ":%zu", q->length - q->at);
            comma = ",";
        }
    fputs("},\"output\":[", out);
    comma = "";
    for (struct piece *p = first_piece; p; p = p->next) {
        fprintf(out, "%s[%d,", comma, p->stream);
        json_text(out, p->bytes, p->length);
        fputc(']', out);
        comma = ",";
    }
    fputs("]}\n", out);
    fclose(out);
    write_all(where && *where ? atoi(where) : 2, text, length);
    _exit(code);
}

void crunner_assume(int condition) {
    if (!condition) report("rejected", 0, NULL, NULL, NULL, 0, 3);
}

/* A test does not know what its campaign assumed. All narrowings count as lifted here: the queues
 * have the choices of those that were lifted in the campaign, and the zeros of empty queues mean
 * the narrow behaviour. */
int crunner_assumed(const char *id) {
    (void)id;
    return 0;
}

void crunner_unmodelled(const char *what) { (void)what; }

_Noreturn void crunner_stop(int status) { report("exited", status, NULL, NULL, NULL, 0, 0); }

_Noreturn void crunner_violation(int kind, const char *what, const char *file, unsigned line) {
    static const char *const kinds[] = {"assertion", "abort", "reach_error",
                                        "fail",      "heap",  "trap"};
    report("violated", 0, kind >= 0 && kind <= 5 ? kinds[kind] : "unknown", what, file, line, 70);
}

_Noreturn void __cegar_trap(uint32_t check, uint32_t kind) {
    (void)kind;
    char what[32];
    snprintf(what, sizeof what, "check %u", check);
    crunner_violation(CRUNNER_TRAP, what, NULL, 0);
}

_Noreturn void crunner_heap_exhausted(void) { report("out_of_memory", 0, NULL, NULL, NULL, 0, 71); }

int main(void) {
    const char *path = getenv("CEGAR_MOCK");
    if (path && *path) load(path);
    heap = crunner_heap_new(0);
    if (!heap) unusable("no memory", "heap");
    crunner_heap_begin(heap);
    errno = 0;
    cegar_entry();
    report("returned", 0, NULL, NULL, NULL, 0, 0);
}
