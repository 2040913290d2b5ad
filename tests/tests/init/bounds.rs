//! The bounds of what a harness chooses, and what it fills: sizes and numbers of calls above the
//! sizes of memory in the code, callbacks in structures, arrays without a length.

use cegar_tests::{Project, exit, tool};

use super::until_violation;

/// A salt of more than 200 bytes and the seventeenth entry overflow arrays of the library. The
/// bounds of a harness lie above both, and a proof of the corrected library that rests on them is
/// none for `--require-proof`, until the bounds are confirmed.
#[test]
fn sizes_and_counts_reach_beyond_the_arrays_of_the_code() {
    let header = "typedef struct lines lines;\n\
         lines *lines_new(void);\nvoid lines_free(lines *l);\n\
         int lines_add(lines *l, const unsigned char *text, unsigned long len);\n\
         unsigned mix(const unsigned char *key, unsigned long key_len, const unsigned char *salt, \
         unsigned long salt_len);\n";
    let source = "#include \"lines.h\"\n#include <stdlib.h>\n#include <string.h>\n\
         struct lines { unsigned count; unsigned long lengths[16]; };\n\
         lines *lines_new(void) { return calloc(1, sizeof(lines)); }\n\
         void lines_free(lines *l) { free(l); }\n\
         int lines_add(lines *l, const unsigned char *text, unsigned long len)\n\
         {\n    if (l->count >= 16 + BAD) return -1;\n    \
             l->lengths[l->count++] = len + (len && text[0]);\n    return 0;\n}\n\
         unsigned mix(const unsigned char *key, unsigned long key_len, const unsigned char *salt, \
         unsigned long salt_len)\n\
         {\n    unsigned char own[200];\n    unsigned sum = 0;\n    \
             if (salt_len > sizeof own + BAD) return 0;\n    memcpy(own, salt, salt_len);\n    \
             for (unsigned long i = 0; i < key_len; i++) sum += key[i];\n    \
             if (salt_len) sum += own[0];\n    return sum;\n}\n";
    let project = Project::wrapping("lines", header, &source.replace("BAD", "1"));
    tool(&project, &["init", "--no-try"]).expect(exit::CLEAN);
    for harness in ["lines_add", "mix"] {
        until_violation(&project, harness, "20s").expect(exit::VIOLATION);
    }
    project.write("c/lines.c", &source.replace("BAD", "0"));
    let proof = [
        "run",
        "mix",
        "--max-time",
        "30s",
        "--no-emit",
        "--require-proof",
    ];
    tool(&project, &proof)
        .expect(exit::OPEN_GOALS)
        .expect_message("salt_size = crunner_size(0, ")
        .expect_message("write `crunner_range` instead of `crunner_size`");
    let file = "cegar/harnesses/mix.c";
    let text = project
        .read(file)
        .replace("crunner_size(", "crunner_range(");
    project.write(file, &text);
    tool(&project, &proof).expect(exit::CLEAN);
}

/// The library reads characters through the callbacks of a structure that its callers fill, and
/// takes an array of flags whose length nobody states: both are chosen.
#[test]
fn callbacks_and_flags_of_a_scanner_are_chosen() {
    let header = "#include <stdbool.h>\n\
         typedef struct reader reader;\n\
         struct reader { int next; void (*advance)(reader *r, bool skip); bool (*at_end)(const \
         reader *r); };\n\
         bool scan_word(reader *r, const bool *wanted);\n";
    let source = "#include \"scan.h\"\n\
         static const char word[4] = {'e', 'n', 'd', 0};\n\
         static bool is_end(reader *r)\n\
         {\n    int i = 0;\n    while (!r->at_end(r) && r->next == word[i]) {\n        i++;\n        \
             r->advance(r, false);\n    }\n    return word[i] == 0;\n}\n\
         bool scan_word(reader *r, const bool *wanted)\n\
         {\n    if (wanted[2] && !wanted[5]) return is_end(r);\n    r->advance(r, true);\n    \
             return false;\n}\n";
    let project = Project::wrapping("scan", header, source);
    tool(&project, &["init", "--try", "4s"]).expect(exit::CLEAN);
    let text = project.read("cegar/harnesses/scan_word.c");
    for part in [
        "->next = crunner_get_int();",
        ".advance = on_",
        "= crunner_get_bool();",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The word and its NUL, and one character more.
    until_violation(&project, "scan_word", "20s")
        .expect(exit::VIOLATION)
        .expect_message("index past an array");
}

/// The crate binds a table, and its functions stand in another file. They are declared in the file
/// of the table, and get harnesses.
#[test]
fn functions_of_a_table_get_harnesses() {
    let project = Project::wrapping(
        "lang",
        "",
        "typedef struct { void *(*make)(void); int (*load)(void *, const char *, unsigned); void \
         (*end)(void *); } table;\n\
         void *lang_state_create(void);\n\
         int lang_state_load(void *, const char *, unsigned);\n\
         void lang_state_destroy(void *);\n\
         static const table all = { lang_state_create, lang_state_load, lang_state_destroy };\n\
         const table *lang(void) { return &all; }\n",
    );
    std::fs::remove_file(project.path().join("c/lang.h")).expect("it was written");
    project.write(
        "c/state.c",
        "#include <stdlib.h>\n\
         struct state { int depth; int kinds[4]; };\n\
         void *lang_state_create(void) { return calloc(1, sizeof(struct state)); }\n\
         void lang_state_destroy(void *s) { free(s); }\n\
         int lang_state_load(void *s, const char *from, unsigned len)\n\
         {\n    struct state *state = s;\n    for (unsigned i = 0; i < len; i++)\n        \
             state->kinds[state->depth++] = from[i];\n    return state->depth;\n}\n",
    );
    let build = project.read("build.rs").replace(
        "assert!(",
        "let other = env::var(\"OUT_DIR\").unwrap() + \"/state.o\";\n    \
         let state = [\"-c\", \"c/state.c\", \"-o\", &other];\n    \
         assert!(Command::new(&cc).args(state).status().unwrap().success());\n    assert!(",
    );
    project.write("build.rs", &build);
    project.write(
        "src/lib.rs",
        "//! Bindings.\nunsafe extern \"C\" {\n    pub fn lang() -> *const u8;\n}\n",
    );
    tool(&project, &["init", "--no-try"]).expect(exit::CLEAN);
    until_violation(&project, "lang_state_load", "20s")
        .expect(exit::VIOLATION)
        .expect_message("state.c");
}

/// A constant of the header says how much one call writes, and an assertion refuses an output of
/// no bytes: neither is a fault of the library. Data that the library copies dies with the call.
#[test]
fn constants_and_words_of_the_header_bound_memory() {
    let header = "typedef short pix_sample_t;\n\
         #define PIX_MAX_SAMPLES (12*32)\n\
         typedef struct pix pix;\n\
         pix *pix_new(void);\nvoid pix_free(pix *p);\n\
         /* The data is copied. */\n\
         void pix_add(pix *p, const unsigned char *data, unsigned long size);\n\
         int pix_decode(const unsigned char *data, unsigned long size, pix_sample_t *pcm);\n\
         void pix_hash(const unsigned char *data, unsigned long size, unsigned char *out, unsigned \
         long out_size);\n";
    let source = "#include \"pix.h\"\n#include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n\
         struct pix { const unsigned char *data; unsigned long size; unsigned sum; };\n\
         pix *pix_new(void) { return calloc(1, sizeof(pix)); }\n\
         void pix_free(pix *p) { free(p); }\n\
         void pix_add(pix *p, const unsigned char *data, unsigned long size)\n\
         {\n    if (p->size) p->sum += p->data[0];\n    p->data = data;\n    \
             p->size = size;\n}\n\
         int pix_decode(const unsigned char *data, unsigned long size, pix_sample_t *pcm)\n\
         {\n    unsigned long most = size > 3 ? PIX_MAX_SAMPLES + 1 : PIX_MAX_SAMPLES;\n    \
             for (unsigned long i = 0; i < most; i++) pcm[i] = (pix_sample_t)i;\n    \
             return size ? data[0] : 0;\n}\n\
         static void hash(const unsigned char *data, unsigned long size, unsigned char *out, \
         unsigned long out_size)\n\
         {\n    assert(out && out_size);\n    for (unsigned long i = 0; i < size; i++) \
             out[i % out_size] ^= data[i];\n}\n\
         void pix_hash(const unsigned char *data, unsigned long size, unsigned char *out, unsigned \
         long out_size)\n\
         {\n    memset(out, 0, out_size);\n    hash(data, size, out, out_size);\n}\n";
    let project = Project::wrapping("pix", header, source);
    tool(&project, &["init", "--try", "4s", "--function", "pix_hash"]).expect(exit::CLEAN);
    let hash = project.read("cegar/harnesses/pix_hash.c");
    assert!(hash.contains("_size != 0); /* learnt */"), "{hash}");
    tool(&project, &["init", "--no-try"]).expect(exit::CLEAN);
    let decode = project.read("cegar/harnesses/pix_decode.c");
    assert!(decode.contains("pcm[PIX_MAX_SAMPLES] = {0};"), "{decode}");
    for (harness, message) in [
        ("pix_decode", "invalid write of 2 bytes"),
        ("pix_add", "freed"),
    ] {
        until_violation(&project, harness, "20s")
            .expect(exit::VIOLATION)
            .expect_message(message);
    }
}

/// No caller shows how a cache is used, and a pointer to an entry that was removed is found only by
/// several calls in a certain order with one key. A ring overflows only after it has wrapped.
#[test]
fn containers_without_callers_are_used_in_any_order() {
    let header = "typedef struct cache cache;\n\
         cache *cache_new(void);\nvoid cache_free(cache *c);\n\
         int cache_put(cache *c, unsigned key, int value);\n\
         int cache_get(cache *c, unsigned key);\n\
         int cache_remove(cache *c, unsigned key);\n\
         struct ring { unsigned char bytes[8]; unsigned at, used; };\n\
         void ring_init(struct ring *r);\n\
         unsigned ring_write(struct ring *r, const unsigned char *data, unsigned len);\n\
         unsigned ring_read(struct ring *r, unsigned char *out, unsigned room);\n";
    let source = "#include \"cache.h\"\n#include <stdlib.h>\n#include <string.h>\n\
         struct entry { unsigned key; int value; struct entry *next; };\n\
         struct cache { struct entry *first, *last; };\n\
         cache *cache_new(void) { return calloc(1, sizeof(cache)); }\n\
         void cache_free(cache *c)\n\
         {\n    while (c->first) {\n        struct entry *next = c->first->next;\n        \
             free(c->first);\n        c->first = next;\n    }\n    free(c);\n}\n\
         int cache_put(cache *c, unsigned key, int value)\n\
         {\n    struct entry *e = malloc(sizeof *e);\n    if (!e) return -1;\n    \
             e->key = key;\n    e->value = value;\n    e->next = c->first;\n    \
             c->first = e;\n    return 0;\n}\n\
         int cache_get(cache *c, unsigned key)\n\
         {\n    if (c->last && c->last->key == key) return c->last->value;\n    \
             for (struct entry *e = c->first; e; e = e->next)\n        if (e->key == key) {\n            \
             c->last = e;\n            return e->value;\n        }\n    return -1;\n}\n\
         int cache_remove(cache *c, unsigned key)\n\
         {\n    for (struct entry **at = &c->first; *at; at = &(*at)->next)\n        \
             if ((*at)->key == key) {\n            struct entry *e = *at;\n            \
             *at = e->next;\n            free(e);\n            return 1;\n        }\n    \
             return 0;\n}\n\
         void ring_init(struct ring *r) { memset(r, 0, sizeof *r); }\n\
         unsigned ring_write(struct ring *r, const unsigned char *data, unsigned len)\n\
         {\n    if (len > sizeof r->bytes - r->used) len = sizeof r->bytes - r->used;\n    \
             memcpy(r->bytes + (r->at + r->used) % 8, data, len);\n    r->used += len;\n    \
             return len;\n}\n\
         unsigned ring_read(struct ring *r, unsigned char *out, unsigned room)\n\
         {\n    unsigned n = 0;\n    while (n < room && r->used > 0) {\n        \
             out[n++] = r->bytes[r->at];\n        r->at = (r->at + 1) % 8;\n        r->used--;\n    }\n    \
             return n;\n}\n";
    let project = Project::wrapping("cache", header, source);
    tool(&project, &["init", "--no-try"]).expect(exit::CLEAN);
    let text = project.read("cegar/harnesses/uses_cache.c");
    assert!(text.contains("No caller shows an order of calls"), "{text}");
    for (harness, message) in [("uses_cache", "freed"), ("uses_ring", "past")] {
        until_violation(&project, harness, "20s")
            .expect(exit::VIOLATION)
            .expect_message(message);
    }
}

/// An iterator is called again and again, and the bytes that its result describes are read, also in
/// a callback. A length that exceeds its data by one shows only there.
#[test]
fn described_bytes_of_results_are_read() {
    let header = "typedef struct { const unsigned char *data; unsigned long size, pos; } reader;\n\
         typedef struct { int tag; const unsigned char *value; unsigned long length; } record;\n\
         void reader_init(reader *r, const unsigned char *data, unsigned long size);\n\
         /* Reads the next record. */\n\
         int reader_next(reader *r, record *out);\n\
         int each_record(const unsigned char *data, unsigned long size, void (*on_record)(const \
         record *one));\n";
    let source = "#include \"records.h\"\n\
         void reader_init(reader *r, const unsigned char *data, unsigned long size)\n\
         {\n    r->data = data;\n    r->size = size;\n    r->pos = 0;\n}\n\
         static int next(reader *r, record *out, unsigned long more)\n\
         {\n    if (r->size - r->pos < 2) return 0;\n    \
             unsigned long length = r->data[r->pos + 1], left = r->size - r->pos - 2;\n    \
             if (length > left) return -1;\n    out->tag = r->data[r->pos];\n    \
             out->value = r->data + r->pos + 2;\n    out->length = length + more;\n    \
             r->pos += 2 + length;\n    return 1;\n}\n\
         int reader_next(reader *r, record *out) { return next(r, out, r->pos > 4); }\n\
         int each_record(const unsigned char *data, unsigned long size, void (*on_record)(const \
         record *one))\n\
         {\n    reader r;\n    record one;\n    int n = 0;\n    reader_init(&r, data, size);\n    \
             while (next(&r, &one, 1) > 0) {\n        on_record(&one);\n        n++;\n    }\n    \
             return n;\n}\n";
    let project = Project::wrapping("records", header, source);
    tool(&project, &["init", "--no-try"]).expect(exit::CLEAN);
    for harness in ["reader_next", "each_record"] {
        until_violation(&project, harness, "20s")
            .expect(exit::VIOLATION)
            .expect_message(&format!("harnesses/{harness}.c"));
    }
}

/// What a header says of sizes is kept: "have n bytes", "both have", "at least" behind the
/// description of a parameter, and an object that an allocating function fills.
#[test]
fn what_a_header_says_of_sizes_is_kept() {
    let header = "typedef struct { unsigned char *pixels; int width, height; } image;\n\
         /* Allocates an image of zeros. Returns 0, or -1. */\n\
         int image_alloc(image *v, int width, int height);\n\
         void image_release(image *v);\n\
         void image_invert(image *v);\n\
         /**\n * Copies a row.\n * @p out and @p in have @p n bytes.\n */\n\
         void row_copy(unsigned char *out, const unsigned char *in, unsigned long n);\n\
         /** Turns a matrix. Both have rows * cols elements. */\n\
         void turn(const short *in, short *out, int rows, int cols);\n\
         /**\n * Mirrors an image.\n * @param pixels height * stride bytes\n \
         * @param stride bytes from one row to the next, at least @p width\n */\n\
         void mirror(unsigned char *pixels, unsigned long width, unsigned long height, unsigned \
         long stride);\n";
    let source = "#include \"sizes.h\"\n#include <stdlib.h>\n\
         int image_alloc(image *v, int width, int height)\n\
         {\n    if (width < 1 || height < 1 || width > 256 || height > 256) return -1;\n    \
             v->pixels = calloc((size_t)width, (size_t)height);\n    if (!v->pixels) return -1;\n    \
             v->width = width;\n    v->height = height;\n    return 0;\n}\n\
         void image_release(image *v) { free(v->pixels); v->pixels = NULL; }\n\
         void image_invert(image *v)\n\
         {\n    for (int i = 0; i <= v->width * v->height; i++) v->pixels[i] ^= 255;\n}\n\
         void row_copy(unsigned char *out, const unsigned char *in, unsigned long n)\n\
         {\n    for (unsigned long i = 0; i < n; i++) out[i] = in[i];\n    if (n > 5) out[n] = 0;\n}\n\
         void turn(const short *in, short *out, int rows, int cols)\n\
         {\n    for (int y = 0; y < rows; y++)\n        for (int x = 0; x < cols; x++)\n            \
             out[x * rows + y + (rows == 3)] = in[y * cols + x];\n}\n\
         void mirror(unsigned char *pixels, unsigned long width, unsigned long height, unsigned \
         long stride)\n\
         {\n    for (unsigned long y = 0; y < height; y++)\n        \
             for (unsigned long x = 0; x < width / 2; x++) {\n            \
             unsigned char *row = pixels + y * stride, one = row[x];\n            \
             row[x] = row[width - 1 - x];\n            row[width - 1 - x] = one;\n        }\n}\n";
    let project = Project::wrapping("sizes", header, source);
    tool(&project, &["init", "--no-try"]).expect(exit::CLEAN);
    for harness in ["image_invert", "row_copy", "turn"] {
        until_violation(&project, harness, "20s")
            .expect(exit::VIOLATION)
            .expect_message("sizes.c");
    }
    let mirror = project.read("cegar/harnesses/mirror.c");
    assert!(
        mirror.contains("crunner_assume(stride >= width)"),
        "{mirror}"
    );
    until_violation(&project, "mirror", "6s").expect(exit::CLEAN);
}
