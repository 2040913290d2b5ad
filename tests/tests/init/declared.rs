//! Information in a header besides types: comments, and constructors that each make another kind of
//! object.

use cegar_tests::{Project, exit, tool};

use super::until_violation;

/// Buffers whose size a comment states, and objects that several constructors make: a harness that
/// guesses finds neither fault.
#[test]
fn comments_say_how_large_memory_is_and_every_constructor_is_tried() {
    let project = Project::before_init(
        "cd \"$CARGO_MANIFEST_DIR\"\n\"$CC\" -Ic -c c/value.c -o \"$OUT_DIR/value.o\"\n",
        &[
            (
                "c/value.h",
                "#include <stddef.h>\nstruct value;\n\
                 struct value *value_none(void);\nstruct value *value_number(double number);\n\
                 struct value *value_list(void);\nvoid value_free(struct value *value);\n\
                 /* The last item of a list; 0 where there is none. */\n\
                 int value_last(const struct value *value);\n\
                 /* Packs n bytes to one bit each: (n + 7) / 8 bytes are written to out. */\n\
                 void value_pack(const unsigned char *bytes, size_t n, unsigned char *out);\n\
                 /* Turns an image of width * height bytes over. */\n\
                 void value_turn(unsigned char *pixels, size_t width, size_t height);\n",
            ),
            (
                "c/value.c",
                "#include <stdlib.h>\n#include \"value.h\"\n\
                 struct value { int kind; double number; size_t count; int *items; };\n\
                 static struct value *make(int kind)\n{\n    struct value *value = calloc(1, \
                 sizeof *value);\n    if (value) value->kind = kind;\n    return value;\n}\n\
                 struct value *value_none(void) { return make(0); }\n\
                 struct value *value_number(double number)\n{\n    struct value *value = \
                 make(1);\n    if (value) value->number = number;\n    return value;\n}\n\
                 struct value *value_list(void) { return make(2); }\n\
                 void value_free(struct value *value) { free(value); }\n\
                 int value_last(const struct value *value)\n{\n    if (value->kind != 2) return \
                 0;\n    return value->items[value->count];\n}\n\
                 void value_pack(const unsigned char *bytes, size_t n, unsigned char *out)\n{\n    \
                 for (size_t i = 0; i < n; i++) out[i / 8] = bytes[i] & 1;\n    out[n / 8] = 0;\n\
                 }\nvoid value_turn(unsigned char *pixels, size_t width, size_t height)\n{\n    \
                 for (size_t i = 0; i < width * height / 2; i++) {\n        unsigned char first = \
                 pixels[i];\n        pixels[i] = pixels[width * height - 1 - i];\n        \
                 pixels[width * height - 1 - i] = first;\n    }\n}\n",
            ),
        ],
    );
    tool(&project, &["init", "--no-try", "--most", "99"]).expect(exit::CLEAN);
    let harness = |name: &str| project.read(&format!("cegar/harnesses/{name}.c"));
    let has = |name: &str, line: &str| {
        let text = harness(name);
        assert!(text.contains(line), "{line} in\n{text}");
    };
    has(
        "value_pack",
        "unsigned char *out = malloc((size + 7) / 8); /* as declared */",
    );
    has(
        "value_turn",
        "unsigned char *pixels = malloc(width * height); /* as declared */",
    );
    has("value_last", "= value_list(); break;");
    has("value_last", "= value_number(number); break;");
    let run = |name: &str| until_violation(&project, name, "12s");
    run("value_pack")
        .expect(exit::VIOLATION)
        .expect_message("c/value.c:27");
    run("value_last")
        .expect(exit::VIOLATION)
        .expect_message("c/value.c:22");
    run("value_turn").expect(exit::CLEAN);
}
