//! Statements of a header that are not in the prototypes: the least size of a buffer, attributes of
//! functions, and steps between a beginning and an end.

use cegar_tests::{Project, exit, tool};

const HEADER: &str = "#include <stddef.h>\n#include <stdint.h>\n\
    #define SCAN_SECRET_MIN 136\n\
    /** Mixes @p len bytes into a hash.\n\
     * `secretSize` *must* be large enough (>= @ref SCAN_SECRET_MIN). */\n\
    __attribute__((pure)) uint64_t scan_hash(const void *input, size_t len,\n        \
        const void *secret, size_t secretSize);\n\
    struct scan;\n\
    struct scan *scan_new(int rows);\n\
    void scan_destroy(struct scan *s);\n\
    void scan_begin(struct scan *s);\n\
    /** Processes what was begun. */\n\
    int scan_end(struct scan *s);\n";

const SOURCE: &str = "#include \"scan.h\"\n#include <stdlib.h>\n\
    struct scan { int rows; };\n\
    uint64_t scan_hash(const void *input, size_t len, const void *secret, size_t secretSize)\n\
    {\n    const uint8_t *p = input, *key = secret;\n    uint64_t hash = secretSize % 7;\n    \
        for (size_t i = 0; i < len; i++) hash = (hash ^ p[i]) * 31 + key[i % SCAN_SECRET_MIN];\n    \
        return hash;\n}\n\
    struct scan *scan_new(int rows)\n\
    {\n    struct scan *s = calloc(1, sizeof *s);\n    if (s) s->rows = rows;\n    return s;\n}\n\
    void scan_destroy(struct scan *s) { free(s); }\n\
    void scan_begin(struct scan *s) { s->rows &= 7; }\n\
    int scan_end(struct scan *s) { return s->rows; }\n";

#[test]
fn what_a_header_states_is_kept() {
    let project = Project::wrapping("scan", HEADER, SOURCE);
    tool(&project, &["init", "--most", "9", "--try", "2s"]).expect(exit::CLEAN);
    let text = |name: &str| project.read(&format!("cegar/harnesses/{name}.c"));
    let hash = text("scan_hash");
    // The buffer has the size that the header asks for, and compilers keep the call.
    for part in [
        "crunner_size(136,",
        "SCAN_SECRET_MIN); /* as declared */",
        "uint64_t result = scan_hash(",
        "(void)*(volatile char *)&result;",
    ] {
        assert!(hash.contains(part), "{part}\n{hash}");
    }
    // `scan_destroy` ends the life of the object, and `scan_end` does not.
    assert!(text("scan_end").contains("scan_end(s)"));
    assert!(text("scan_begin").contains("scan_destroy(s)"));
    tool(&project, &["run", "scan_end", "--runs", "100"]).expect(exit::CLEAN);
}
