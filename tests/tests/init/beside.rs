//! What a harness takes from elsewhere than the header of its function: functions of headers beside
//! it, and the library's code, which shows the members that callers set.

use cegar_tests::{Project, exit, tool};

use super::until_violation;

/// The functions that a crate binds are in two headers. Both get harnesses, with what the comments
/// of their own header state, and an object of the one is made by either constructor of the other.
#[test]
fn functions_of_all_headers_that_the_crate_binds_get_harnesses() {
    let project = Project::wrapping(
        "pages",
        "#include \"render.h\"\n\
         /* Prints a page: room for 2 * len bytes in out. */\n\
         unsigned long page_print(struct render *r, const unsigned char *text, unsigned long len, \
         unsigned char *out);\n",
        "#include \"pages.h\"\n#include <stdlib.h>\n\
         struct render { int kind; unsigned flags; };\n\
         static struct render *make(int kind, unsigned flags)\n\
         {\n    struct render *r = calloc(1, sizeof *r);\n    if (r) { r->kind = kind; r->flags = \
         flags; }\n    return r;\n}\n\
         struct render *render_plain_new(int level) { return make(level & 1, 0); }\n\
         struct render *render_page_new(enum render_flags flags, int level)\n\
         { return make(2 | (level & 1), flags); }\n\
         void render_free(struct render *r) { free(r); }\n\
         unsigned long page_print(struct render *r, const unsigned char *text, unsigned long len, \
         unsigned char *out)\n\
         {\n    unsigned long n = 0;\n    for (unsigned long i = 0; i < len; i++) {\n        \
         out[n++] = text[i];\n        if (r->flags & RENDER_WIDE) out[n++] = ' ';\n        if \
         (r->flags == (RENDER_WIDE | RENDER_LINES) && text[i] == '\\n') out[n++] = '|';\n    }\n    \
         return n;\n}\n\
         int escape_text(const unsigned char *text, unsigned long len, unsigned char *out)\n\
         {\n    for (unsigned long i = 0; i < len; i++) out[i] = text[i] ^ 1;\n    return \
         (int)len;\n}\n",
    );
    project.write(
        "c/render.h",
        "struct render;\n\
         enum render_flags { RENDER_WIDE = 1 << 0, RENDER_LINES = 1 << 1, RENDER_BOXES = 1 << 2 };\n\
         struct render *render_plain_new(int level);\n\
         struct render *render_page_new(enum render_flags flags, int level);\n\
         void render_free(struct render *r);\n\
         /* Escapes len bytes. out must have room for len bytes. */\n\
         int escape_text(const unsigned char *text, unsigned long len, unsigned char *out);\n",
    );
    project.write(
        "src/lib.rs",
        "//! Bindings.\nunsafe extern \"C\" {\n    pub fn page_print(r: *mut u8, text: *const u8, \
         len: u64, out: *mut u8) -> u64;\n    pub fn escape_text(text: *const u8, len: u64, out: \
         *mut u8) -> i32;\n}\n",
    );
    tool(&project, &["init", "--no-try"]).expect(exit::CLEAN);
    let harness = |name: &str| project.read(&format!("cegar/harnesses/{name}.c"));
    let page = harness("page_print");
    for part in ["render_plain_new(", "= render_page_new(", "render_free(r);"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    // The header of the page includes it already, and it has no guard.
    assert!(!page.contains("render.h"), "{page}");
    let escape = harness("escape_text");
    assert!(
        escape.contains("malloc(size); /* as declared */"),
        "{escape}"
    );
    let run = |name: &str| until_violation(&project, name, "10s");
    run("page_print")
        .expect(exit::VIOLATION)
        .expect_message("invalid write of 1 byte");
    run("escape_text").expect(exit::CLEAN);
}

/// A member that the library reads and never writes is an option of its callers, and an array in a
/// structure that a function only reads has contents: the faults behind them are found.
#[test]
fn members_that_callers_set_are_chosen() {
    let project = Project::wrapping(
        "chunks",
        "struct decoder { unsigned long left; char trailer; char _state; };\n\
         struct image { unsigned char cells[40]; };\n\
         /* Decodes in place. The decoder is filled with zeros before its options are set. */\n\
         long chunks_decode(struct decoder *d, unsigned char *buf, unsigned long len);\n\
         int image_check(const struct image *image);\n",
        "#include \"chunks.h\"\n\
         long chunks_decode(struct decoder *d, unsigned char *buf, unsigned long len)\n\
         {\n    static const int known[2] = {1, 2};\n    for (unsigned long i = 0; i < len; i++) \
         {\n        d->left++;\n        if (d->_state == 1) return known[buf[i] & 1];\n        if \
         (buf[i] == 7 && d->trailer) return known[buf[i] & 3];\n    }\n    return \
         (long)d->left;\n}\n\
         int image_check(const struct image *image)\n\
         {\n    static const int known[200] = {1};\n    if (image->cells[0] != 'P') return 0;\n    \
         return known[image->cells[39]];\n}\n",
    );
    tool(&project, &["init", "--no-try"]).expect(exit::CLEAN);
    let decode = project.read("cegar/harnesses/chunks_decode.c");
    assert!(
        decode.contains("d.trailer = crunner_get_schar();"),
        "{decode}"
    );
    assert!(
        !decode.contains("d.left =") && !decode.contains("d._state ="),
        "{decode}"
    );
    for (name, place) in [
        ("chunks_decode", "chunks.c:8"),
        ("image_check", "chunks.c:16"),
    ] {
        until_violation(&project, name, "10s")
            .expect(exit::VIOLATION)
            .expect_message(place);
    }
}

/// A library that uses its callers' allocator: the harness's functions really free and resize blocks,
/// so that an access to a freed block is found. NULL is passed where the header permits it.
#[test]
fn callers_allocators_free_what_they_allocated() {
    let project = Project::wrapping(
        "mesh",
        "struct mesh_alloc {\n    void *(*memalloc)(void *user, unsigned size);\n    \
         void *(*memrealloc)(void *user, void *ptr, unsigned size);\n    \
         void (*memfree)(void *user, void *ptr);\n    void *user;\n};\n\
         struct mesh;\nstruct mesh *mesh_new(struct mesh_alloc *alloc);\n\
         void mesh_free(struct mesh *m);\n\
         /* Adds a point.\n * @param name its name. NULL may be passed. */\n\
         int mesh_add(struct mesh *m, int point, const char *name);\n",
        "#include \"mesh.h\"\n#include <string.h>\n\
         struct mesh { struct mesh_alloc alloc; int *points; unsigned count, room; };\n\
         struct mesh *mesh_new(struct mesh_alloc *alloc)\n\
         {\n    struct mesh *m = alloc->memalloc(alloc->user, sizeof *m);\n    if (!m) return \
         0;\n    memset(m, 0, sizeof *m);\n    m->alloc = *alloc;\n    return m;\n}\n\
         void mesh_free(struct mesh *m)\n\
         {\n    struct mesh_alloc alloc = m->alloc;\n    if (m->points) alloc.memfree(alloc.user, \
         m->points);\n    alloc.memfree(alloc.user, m);\n    m->count = 0;\n}\n\
         int mesh_add(struct mesh *m, int point, const char *name)\n\
         {\n    if (m->count == m->room) {\n        int *more = m->alloc.memrealloc(m->alloc.user, \
         m->points, (m->room + 2) * sizeof *more);\n        if (!more) return 0;\n        \
         m->points = more;\n        m->room += 2;\n    }\n    m->points[m->count++] = point;\n    \
         return name ? (int)strlen(name) : -1;\n}\n",
    );
    let init = ["init", "--function", "mesh_add", "--try", "2s"];
    tool(&project, &init).expect(exit::CLEAN);
    let text = project.read("cegar/harnesses/mesh_add.c");
    for part in ["return realloc(p2, p3);", "free(p2);", "name_or_null = "] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    until_violation(&project, "mesh_add", "10s")
        .expect(exit::VIOLATION)
        .expect_message("mesh.c:17");
}
