//! Containers are filled before a function reads them.

use cegar_tests::{Project, exit, tool};

use super::until_violation;

/// A crate whose library is one file and one header.
fn library(header: &str, code: &str) -> Project {
    Project::before_init(
        "cd \"$CARGO_MANIFEST_DIR\"\n\"$CC\" -Ic -c c/shelf.c -o \"$OUT_DIR/shelf.o\"\n",
        &[("c/shelf.h", header), ("c/shelf.c", code)],
    )
}

/// The fault appears at the tenth entry: neither an empty container nor a single call shows it.
#[test]
fn what_looks_into_a_container_finds_something_there() {
    let project = library(
        "struct shelf;\nstruct shelf *shelf_new(void);\nvoid shelf_free(struct shelf *shelf);\n\
         /* 0 where there is no memory. */\n\
         int shelf_add(struct shelf *shelf, const char *title);\n\
         int shelf_insert_at(struct shelf *shelf, unsigned position, const char *title);\n\
         /* The length of the longest title. */\n\
         unsigned long shelf_width(const struct shelf *shelf);\n\
         int shelf_put(struct shelf *shelf, const unsigned char *bytes, unsigned long size);\n\
         int shelf_same(const struct shelf *a, const struct shelf *b);\n",
        "#include <stdlib.h>\n#include <string.h>\n#include \"shelf.h\"\n\
         struct shelf { unsigned count; char *titles[16]; };\n\
         struct shelf *shelf_new(void) { return calloc(1, sizeof(struct shelf)); }\n\
         void shelf_free(struct shelf *shelf)\n{\n    for (unsigned i = 0; i < shelf->count; i++) \
         free(shelf->titles[i]);\n    free(shelf);\n}\n\
         int shelf_add(struct shelf *shelf, const char *title)\n{\n    if (shelf->count == 16) \
         return 0;\n    char *own = malloc(strlen(title) + 1);\n    if (!own) return 0;\n    \
         strcpy(own, title);\n    shelf->titles[shelf->count++] = own;\n    return 1;\n}\n\
         int shelf_insert_at(struct shelf *shelf, unsigned position, const char *title)\n{\n    \
         return position == shelf->count ? shelf_add(shelf, title) : 0;\n}\n\
         unsigned long shelf_width(const struct shelf *shelf)\n{\n    unsigned long lengths[9], \
         width = 0;\n    for (unsigned i = 0; i < shelf->count; i++) {\n        lengths[i] = \
         strlen(shelf->titles[i]);\n        if (lengths[i] > width) width = lengths[i];\n    \
         }\n    return width;\n}\n\
         int shelf_put(struct shelf *shelf, const unsigned char *bytes, unsigned long size)\n\
         {\n    return size > 0 && bytes[size - 1] == 0 && shelf_add(shelf, (const char *)bytes);\n\
         }\nint shelf_same(const struct shelf *a, const struct shelf *b) { return a->count == \
         b->count; }\n",
    );
    tool(&project, &["init", "--no-try", "--most", "99"]).expect(exit::CLEAN);
    let text = project.read("cegar/harnesses/shelf_width.c");
    for line in [
        "`shelf_add`, `shelf_put` may be called at any time",
        "for (int turns = (int)crunner_size(0, 24); turns > 0; turns--) {",
        "const char *title = crunner_new_string();",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    // The harness has two containers, and memory that stays allocated until both are released.
    let text = project.read("cegar/harnesses/shelf_same.c");
    assert_eq!(text.matches("void *kept[48];").count(), 1, "{text}");
    assert_eq!(text.matches("free(kept[--keeps]);").count(), 1, "{text}");
    // A position has to exist, so functions with a position are not called at any time.
    assert!(!text.contains("shelf_insert_at"), "{text}");
    // The function that fills the container gets a new title in each call.
    let text = project.read("cegar/harnesses/shelf_add.c");
    let (_, turns) = text.split_once("turns--) {").unwrap_or_default();
    assert!(turns.contains("crunner_new_string()"), "{text}");
    until_violation(&project, "shelf_width", "20s")
        .expect(exit::VIOLATION)
        .expect_message("c/shelf.c:28");
}

/// A fault in the function that fills a container is found by that function's harness, not by those
/// of all functions that read the container.
#[test]
fn a_fault_while_a_container_is_filled_is_told_once() {
    let project = library(
        "struct shelf;\nstruct shelf *shelf_new(void);\nvoid shelf_free(struct shelf *shelf);\n\
         void shelf_add(struct shelf *shelf, int number);\n\
         int shelf_has(const struct shelf *shelf, int number);\n",
        "#include <stdlib.h>\n#include \"shelf.h\"\n\
         struct shelf { unsigned count; int numbers[4]; };\n\
         struct shelf *shelf_new(void) { return calloc(1, sizeof(struct shelf)); }\n\
         void shelf_free(struct shelf *shelf) { free(shelf); }\n\
         void shelf_add(struct shelf *shelf, int number)\n{\n    if (shelf->count <= 4) \
         shelf->numbers[shelf->count++] = number;\n}\n\
         int shelf_has(const struct shelf *shelf, int number)\n{\n    for (unsigned i = 0; i < \
         shelf->count && i < 4; i++)\n        if (shelf->numbers[i] == number) return 1;\n    \
         return 0;\n}\n",
    );
    tool(&project, &["init", "--most", "99"]).expect(exit::CLEAN);
    let text = project.read("cegar/harnesses/shelf_has.c");
    assert!(!text.contains("shelf_add"), "{text}");
    let run = |name: &str| until_violation(&project, name, "15s");
    run("shelf_add")
        .expect(exit::VIOLATION)
        .expect_message("c/shelf.c:8");
    run("shelf_has").expect(exit::CLEAN);
}
