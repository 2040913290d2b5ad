//! Harnesses use results, options and callbacks as callers do.

use cegar_tests::{Project, exit, tool};

use super::until_violation;

/// A crate whose library is one file and one header, with a harness for each function.
fn library(header: &str, code: &str) -> Project {
    let project = Project::before_init(
        "cd \"$CARGO_MANIFEST_DIR\"\n\"$CC\" -Ic -c c/lib.c -o \"$OUT_DIR/lib.o\"\n",
        &[
            ("c/lib.h", header),
            (
                "c/lib.c",
                &format!("#include <stdlib.h>\n#include <string.h>\n#include \"lib.h\"\n{code}"),
            ),
        ],
    );
    tool(&project, &["init", "--no-try", "--most", "99"]).expect(exit::CLEAN);
    project
}

/// Asserts that the harness of a function contains these lines.
fn has(project: &Project, function: &str, lines: &[&str]) {
    let text = project.read(&format!("cegar/harnesses/{function}.c"));
    for line in lines {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
}

/// Asserts that a run of the harness finds a fault in this place and maybe in others.
fn shows_among_others(project: &Project, function: &str, place: &str) {
    let run = ["run", function, "--max-time", "15s", "--no-emit"];
    tool(project, &run)
        .expect(exit::VIOLATION)
        .expect_message(place);
}

/// Asserts that the first fault that a run of the harness finds is in this place.
fn shows(project: &Project, function: &str, place: &str) {
    until_violation(project, function, "15s")
        .expect(exit::VIOLATION)
        .expect_message(place);
}

/// Wrong values that a library passes to its callers are found when the callers use them: here the
/// length of a message, which is one too large.
#[test]
fn options_are_given_and_callbacks_read_what_they_are_handed() {
    let project = library(
        "#include <stddef.h>\nstruct bus;\n\
         typedef void (*bus_log)(void *user, const char *text, size_t length);\n\
         struct bus_options { size_t room; const char *prefix; bus_log log; void *user; };\n\
         struct bus *bus_new(const struct bus_options *options);\nvoid bus_free(struct bus *bus);\n\
         int bus_say(struct bus *bus, const char *text, size_t length);\n\
         struct words { int (*begin)(void); int (*word)(const char *at, size_t length); };\n\
         /* Sets all to NULL. */\nvoid words_init(struct words *words);\n\
         void words_parse(const struct words *words, const char *text, size_t size);\n",
        "struct bus { char prefix[16]; bus_log log; void *user; };\n\
         struct bus *bus_new(const struct bus_options *options)\n{\n    struct bus *bus = \
         calloc(1, sizeof *bus);\n    if (!bus) return NULL;\n    if (options->prefix) \
         strcpy(bus->prefix, options->prefix);\n    bus->log = options->log;\n    bus->user = \
         options->user;\n    return bus;\n}\nvoid bus_free(struct bus *bus) { free(bus); }\n\
         int bus_say(struct bus *bus, const char *text, size_t length)\n{\n    if (bus->log) \
         bus->log(bus->user, text, length + 1);\n    return 0;\n}\n\
         void words_init(struct words *words) { memset(words, 0, sizeof *words); }\n\
         void words_parse(const struct words *words, const char *text, size_t size)\n{\n    if \
         (words->begin && words->begin()) return;\n    if (words->word && size > 2) \
         words->word(text, size + 1);\n}\n",
    );
    has(
        &project,
        "words_parse",
        &["words.word = crunner_range(0, 7) > 0 ? on_words_word : NULL;\n"],
    );
    // The invalid read is in the callback.
    shows(&project, "words_parse", "invalid read of 1 byte");
    has(
        &project,
        "bus_say",
        &[
            "options.prefix = crunner_range(0, 7) > 0 ? crunner_new_string() : NULL;",
            "options.log = crunner_range(0, 7) > 0 ? on_options_log : NULL;",
            "for (size_t i = 0; p2 && p3 > 0 && i < (size_t)p3; i++)",
        ],
    );
    shows(&project, "bus_say", "cegar/harnesses/bus_say.c");
}

/// A copy that shares its memory is released as well, and a slice with a wrong length is read.
#[test]
fn results_of_the_same_kind_are_used() {
    let project = library(
        "#include <stddef.h>\nstruct roll;\n\
         struct roll *roll_new(const unsigned char *bytes, size_t size);\n\
         void roll_free(struct roll *roll);\n\
         /* The bytes behind the first ones, or NULL. The caller frees them with roll_free. */\n\
         struct roll *roll_rest(const struct roll *roll, size_t first);\n\
         struct roll *roll_clone(const struct roll *roll);\n/* Belongs to the roll. */\n\
         struct roll *roll_self(const struct roll *roll);\n\
         unsigned roll_sum(const struct roll *roll);\ntypedef char *cord;\n\
         cord cord_new(const char *text);\nvoid cord_free(cord cord);\n\
         cord cord_cat(cord cord, const char *text);\n",
        "struct roll { size_t size; unsigned char *bytes; };\n\
         struct roll *roll_new(const unsigned char *bytes, size_t size)\n{\n    struct roll *roll \
         = malloc(sizeof *roll);\n    roll->bytes = malloc(size + !size);\n    if (size) \
         memcpy(roll->bytes, bytes, size);\n    roll->size = size;\n    return roll;\n}\n\
         void roll_free(struct roll *roll) { free(roll->bytes); free(roll); }\n\
         struct roll *roll_rest(const struct roll *roll, size_t first)\n{\n    if (first > \
         roll->size) return NULL;\n    struct roll *rest = roll_new(roll->bytes + first, \
         roll->size - first);\n    rest->size = roll->size;\n    return rest;\n}\n\
         struct roll *roll_clone(const struct roll *roll)\n{\n    struct roll *copy = \
         malloc(sizeof *copy);\n    *copy = *roll;\n    return copy;\n}\n\
         struct roll *roll_self(const struct roll *roll) { return (struct roll *)roll; }\n\
         unsigned roll_sum(const struct roll *roll)\n{\n    unsigned sum = 0;\n    for (size_t i = \
         0; i < roll->size; i++) sum += roll->bytes[i];\n    return sum;\n}\n\
         struct head { size_t size, room; char text[]; };\n\
         #define HEAD(c) ((struct head *)((c) - offsetof(struct head, text)))\n\
         cord cord_new(const char *text)\n{\n    size_t size = strlen(text);\n    struct head \
         *head = malloc(sizeof *head + size + 1);\n    head->size = head->room = size;\n    \
         memcpy(head->text, text, size + 1);\n    return head->text;\n}\n\
         void cord_free(cord cord) { free(HEAD(cord)); }\n\
         cord cord_cat(cord cord, const char *text)\n{\n    struct head *head = HEAD(cord);\n    \
         size_t size = strlen(text);\n    if (head->size + size > head->room) {\n        \
         head->room = 2 * (head->size + size);\n        head = realloc(head, sizeof *head + \
         head->room);\n    }\n    memcpy(head->text + head->size, text, size + 1);\n    head->size \
         += size;\n    return head->text;\n}\n",
    );
    has(
        &project,
        "roll_rest",
        &[
            "struct roll *result = roll_rest(roll, first);",
            "roll_sum(result);",
            "roll_free(result);",
        ],
    );
    has(&project, "roll_clone", &["roll_free(result);"]);
    let own = project.read("cegar/harnesses/roll_self.c");
    assert!(!own.contains("result"), "{own}");
    has(
        &project,
        "cord_cat",
        &[
            "cord cord = cord_new(text);",
            "cord = cord_cat(cord, text_value);",
            "if (!cord)\n            break;",
        ],
    );
    shows_among_others(&project, "roll_rest", "c/lib.c:23");
    shows(&project, "cord_cat", "c/lib.c:53");
}

/// A library with one global registry is set up first, filled, and shut down last; a name is read
/// to its end.
#[test]
fn a_library_with_a_state_of_its_own_is_set_up_and_filled() {
    let project = library(
        "/* Room for so many names, at most 64. Returns 0, or -1. */\n\
         int names_init(unsigned room);\nint names_add(const char *name);\n\
         /* The name of that number; NULL if there is none. */\n\
         const char *names_get(int number);\nvoid names_shutdown(void);\n",
        "static char (*names)[8];\nstatic int count, room;\nint names_init(unsigned wanted)\n\
         {\n    if (wanted < 1 || wanted > 64) return -1;\n    names = calloc(wanted, sizeof \
         *names);\n    room = (int)wanted;\n    return names ? 0 : -1;\n}\n\
         int names_add(const char *name)\n{\n    if (count > room || strlen(name) > 7) return \
         -1;\n    strcpy(names[count++], name);\n    return 0;\n}\n\
         const char *names_get(int number) { return number < count ? names[number] : NULL; }\n\
         void names_shutdown(void) { free(names); names = NULL; count = room = 0; }\n",
    );
    has(
        &project,
        "names_add",
        &[
            "if (names_init(room) != 0)",
            "turns > 0; turns--) {",
            "names_shutdown();",
        ],
    );
    has(
        &project,
        "names_get",
        &[
            "names_add(name);",
            "int number = crunner_get_int(); /* as declared */",
            "const char *result = names_get(number);",
        ],
    );
    shows_among_others(&project, "names_get", "cegar/harnesses/names_get.c");
}

/// Values for which the header promises an answer, two arrays whose sizes it declares, and a fault
/// that only a second call shows.
#[test]
fn numbers_and_inputs_are_what_the_header_says() {
    let project = library(
        "#include <stddef.h>\n\
         /* Days of a month, 1 to 12; 0 if there is no such month. year must not be 0. */\n\
         int days(int year, int month);\n\
         /* Copies the lower half of an image of width * height bytes to half, which has room for \
         width * (height / 2) bytes. */\n\
         void halve(const unsigned char *image, unsigned char *half, unsigned width, unsigned \
         height);\nstruct item { const char *at; size_t size; };\n\
         int items_split(const char *text, size_t size, struct item *items, size_t max);\n\
         struct meter;\nstruct meter *meter_new(void);\nvoid meter_free(struct meter *meter);\n\
         void meter_update(struct meter *meter, const unsigned char *data, size_t size);\n\
         /* The line of a byte of the text, from 1; 0 if pos is out of bounds. */\n\
         unsigned line_at(const char *text, size_t size, size_t pos);\n",
        "static const int table[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};\n\
         int days(int year, int month)\n{\n    if (month > 12) return 0;\n    return table[month - \
         1] + (month == 2 && 4 % year == 0);\n}\n\
         void halve(const unsigned char *image, unsigned char *half, unsigned width, unsigned \
         height)\n{\n    for (unsigned y = height / 2; y < height; y++)\n        memcpy(half + (y \
         - height / 2) * width, image + y * width, width);\n}\n\
         int items_split(const char *text, size_t size, struct item *items, size_t max)\n{\n    \
         size_t count = 0;\n    for (size_t i = 0; i < size; i++)\n        if (text[i] == ',' && \
         count <= max) items[count++].at = text + i;\n    return (int)count;\n}\n\
         struct meter { unsigned used; unsigned char last[64]; };\n\
         struct meter *meter_new(void) { return calloc(1, sizeof(struct meter)); }\n\
         void meter_free(struct meter *meter) { free(meter); }\n\
         void meter_update(struct meter *meter, const unsigned char *data, size_t size)\n{\n    if \
         (size > 64) size = 64;\n    memcpy(meter->last + meter->used, data, size);\n    \
         meter->used = (meter->used + size) % 64;\n}\n\
         unsigned line_at(const char *text, size_t size, size_t pos)\n{\n    unsigned line = size \
         > 0;\n    for (size_t i = 0; i < pos; i++) line += text[i] == '\\n';\n    return line;\n\
         }\n",
    );
    has(
        &project,
        "days",
        &[
            "int year = crunner_get_int();\n",
            "int month = crunner_get_int(); /* as declared */",
        ],
    );
    has(
        &project,
        "halve",
        &[
            "unsigned char *image = malloc((size_t)width * (size_t)height); /* as declared */",
            "unsigned char *half = malloc((size_t)width * ((size_t)height / 2)); /* as declared */",
        ],
    );
    has(
        &project,
        "items_split",
        &["struct item *items = malloc(items_size * sizeof(struct item));"],
    );
    has(
        &project,
        "meter_update",
        &[
            "turns > 0; turns--) {",
            "meter_update(meter, data_value, data_value_size);",
        ],
    );
    has(
        &project,
        "line_at",
        &["size_t pos = crunner_get_ulong(); /* as declared */\n"],
    );
    shows(&project, "line_at", "c/lib.c:34");
    shows(&project, "items_split", "c/lib.c:19");
    shows(&project, "meter_update", "c/lib.c:28");
}

/// Harnesses keep the preconditions that the header states, so nothing is reported for correct
/// code.
#[test]
fn what_callers_have_to_keep_is_kept() {
    let project = library(
        "#include <stddef.h>\nstruct tray;\n/* An empty tray. */\nstruct tray *tray_new(void);\n\
         void tray_free(struct tray *tray);\nint tray_push(struct tray *tray, int item);\n\
         size_t tray_count(const struct tray *tray);\n\
         /* The item at `place`, which must be less than tray_count(tray). */\n\
         int tray_at(const struct tray *tray, size_t place);\n\
         /* Drops n items. n must not be more than the count. */\n\
         void tray_drop(struct tray *tray, size_t n);\n\
         /* Takes both; neither may be used afterwards. */\n\
         struct tray *tray_joined(struct tray *first, struct tray *second);\n\
         /* Called with each word, which goes from begin up to, and without, end. It is not \
         NUL-terminated. */\ntypedef void (*tray_word)(const char *begin, const char *end);\n\
         void tray_words(const char *text, tray_word word);\n\
         /* Called with each line and its number. */\n\
         typedef void (*tray_line)(const char *line, size_t number);\n\
         void tray_lines(const char *text, tray_line line);\nstruct tray_source {\n    /* Reads at \
         most n bytes to buf. Returns how many; never more than n. */\n    size_t (*read)(void \
         *user, void *buf, size_t n);\n    void *user;\n};\n\
         /* The sum of all that there is to read. */\n\
         unsigned tray_sum(const struct tray_source *source);\n\
         /* Fills a rectangle of an image of w * h bytes at pixels: x + rw is at most w, y + rh at \
         most h. */\n\
         void tray_fill(unsigned char *pixels, unsigned w, unsigned h, unsigned x, unsigned y, \
         unsigned rw, unsigned rh);\n",
        "struct tray { size_t count, room; int *items; };\n\
         struct tray *tray_new(void) { return calloc(1, sizeof(struct tray)); }\n\
         void tray_free(struct tray *tray) { free(tray->items); free(tray); }\n\
         int tray_push(struct tray *tray, int item)\n{\n    if (tray->count == tray->room) \
         {\n        tray->room = tray->room ? 2 * tray->room : 4;\n        tray->items = \
         realloc(tray->items, tray->room * sizeof(int));\n    }\n    tray->items[tray->count++] = \
         item;\n    return 0;\n}\n\
         size_t tray_count(const struct tray *tray) { return tray->count; }\n\
         int tray_at(const struct tray *tray, size_t place) { return tray->items[place]; }\n\
         void tray_drop(struct tray *tray, size_t n)\n{\n    for (; n > 0; n--)\n        \
         tray->items[--tray->count] = 0;\n}\n\
         struct tray *tray_joined(struct tray *first, struct tray *second)\n{\n    if (first == \
         second) return first;\n    for (size_t i = 0; i < second->count; i++) tray_push(first, \
         second->items[i]);\n    tray_free(second);\n    return first;\n}\n\
         void tray_words(const char *text, tray_word word)\n{\n    char copy[8];\n    size_t n = \
         strlen(text);\n    if (n > 8) n = 8;\n    memcpy(copy, text, n);\n    word(copy, copy + \
         n);\n}\nvoid tray_lines(const char *text, tray_line line) { line(text, 4711); }\n\
         unsigned tray_sum(const struct tray_source *source)\n{\n    unsigned char buf[16];\n    \
         unsigned sum = 0;\n    size_t n = source->read ? source->read(source->user, buf, sizeof \
         buf) : 0;\n    for (size_t i = 0; i < n; i++) sum += buf[i];\n    return sum;\n}\n\
         void tray_fill(unsigned char *pixels, unsigned w, unsigned h, unsigned x, unsigned y, \
         unsigned rw, unsigned rh)\n{\n    for (unsigned i = 0; i < rh; i++) memset(pixels + (y + \
         i) * w + x, 1, rw);\n    (void)h;\n}\n",
    );
    has(
        &project,
        "tray_at",
        &[
            "tray_push(tray, item);",
            "crunner_assume(place < tray_count(tray)); /* as declared */",
        ],
    );
    has(
        &project,
        "tray_drop",
        &["crunner_assume(n <= tray_count(tray)); /* as declared */"],
    );
    has(&project, "tray_joined", &["tray_free(result);"]);
    has(
        &project,
        "tray_fill",
        &[
            "crunner_assume(x <= w && rw <= w - x);",
            "crunner_assume(y <= h && rh <= h - y);",
        ],
    );
    let joined = project.read("cegar/harnesses/tray_joined.c");
    assert!(
        !joined.contains("tray_free(first);") && !joined.contains("tray_free(second);"),
        "{joined}"
    );
    let ran = tool(&project, &["run", "--max-time", "30s", "--no-emit"]);
    let said = format!("{ran}");
    assert!(!said.contains(" Found "), "{said}");
}

/// A buffer has the size that a function of the library returns; an object is not empty if the
/// header requires that; a constructor that reports its errors creates objects; an array of
/// declared size is filled from the input. The faults found are those of the library, and nothing
/// else is reported.
#[test]
fn functions_of_the_library_say_how_large_memory_is() {
    let project = library(
        "#include <stddef.h>\n/* How many characters len bytes become, without the NUL. */\n\
         size_t tally_length(size_t len);\n\
         /* Writes them to out, which must have room for tally_length(len) + 1 characters. */\n\
         void tally_write(const unsigned char *bytes, size_t len, char *out);\n\
         /* Turns them around. out must have room for len bytes. */\n\
         void tally_turn(const unsigned char *bytes, size_t len, unsigned char *out);\n\
         /* Like tally_write. Returns 0; cap must be at least tally_length(len) + 1. */\n\
         int tally_put(const unsigned char *bytes, size_t len, char *out, size_t cap);\n\
         /* The sum of all; bytes must have len bytes. */\n\
         long tally_all(const unsigned char *bytes, size_t len);\n\
         enum tally_status { TALLY_OK, TALLY_BAD };\nstruct tally;\n\
         /* Reads a text of digits; NULL if it has others, and status says why. */\n\
         struct tally *tally_parse(const char *text, enum tally_status *status);\n\
         void tally_free(struct tally *tally);\n/* With a weight for each digit. */\n\
         long tally_sum(const struct tally *tally, const int weights[10]);\n\
         int tally_empty(const struct tally *tally);\n\
         /* Takes the last digit away; the tally must not be empty. */\n\
         int tally_pop(struct tally *tally, int unused);\n",
        "struct tally { size_t count; int digits[16]; };\n\
         size_t tally_length(size_t len) { return 2 * len; }\n\
         void tally_write(const unsigned char *bytes, size_t len, char *out)\n{\n    for (size_t i \
         = 0; i < len; i++) { out[2 * i] = 'a' + (bytes[i] >> 4); out[2 * i + 1] = 'a' + (bytes[i] \
         & 15); }\n    out[2 * len] = 0;\n}\n\
         void tally_turn(const unsigned char *bytes, size_t len, unsigned char *out)\n{\n    for \
         (size_t i = 0; i < len; i++) out[len - i] = bytes[i];\n}\n\
         int tally_put(const unsigned char *bytes, size_t len, char *out, size_t cap)\n{\n    \
         (void)cap;\n    tally_write(bytes, len, out);\n    return 0;\n}\n\
         struct tally *tally_parse(const char *text, enum tally_status *status)\n{\n    struct \
         tally *tally = calloc(1, sizeof *tally);\n    for (; tally && *text && tally->count < 16; \
         text++) {\n        if (*text < '0' || *text > '9') { free(tally); if (status) *status = \
         TALLY_BAD; return NULL; }\n        tally->digits[tally->count++] = *text - '0';\n    \
         }\n    if (status) *status = TALLY_OK;\n    return tally;\n}\n\
         void tally_free(struct tally *tally) { free(tally); }\n\
         long tally_sum(const struct tally *tally, const int weights[10])\n{\n    static const int \
         known[4] = {1, 2, 3, 4};\n    long sum = 0;\n    for (size_t i = 0; i < tally->count; \
         i++) {\n        int weight = weights[tally->digits[i]];\n        sum += weight > 0 ? \
         known[tally->digits[i]] : weight;\n    }\n    return sum;\n}\n\
         long tally_all(const unsigned char *bytes, size_t len)\n{\n    long sum = 0;\n    for \
         (size_t i = 0; i < len; i++) sum += bytes[i];\n    return sum;\n}\n\
         int tally_empty(const struct tally *tally) { return tally->count == 0; }\n\
         int tally_pop(struct tally *tally, int unused) { (void)unused; return \
         tally->digits[--tally->count]; }\n",
    );
    has(
        &project,
        "tally_write",
        &["malloc(tally_length(size) + 1); /* as declared */"],
    );
    has(&project, "tally_turn", &["malloc(size); /* as declared */"]);
    // The main input is the buffer with a length beside it.
    has(
        &project,
        "tally_all",
        &["tally_all((const unsigned char *)data, size);"],
    );
    has(
        &project,
        "tally_put",
        &[">= tally_length(size) + 1); /* as declared */"],
    );
    has(
        &project,
        "tally_sum",
        &[
            "tally_parse(",
            "crunner_get_bytes(weights, sizeof weights);",
        ],
    );
    has(
        &project,
        "tally_pop",
        &["crunner_assume(tally_empty(tally) == 0); /* as declared */"],
    );
    for function in ["tally_write", "tally_put", "tally_pop"] {
        let arguments = ["run", function, "--max-time", "6s", "--no-emit"];
        let said = format!("{}", tool(&project, &arguments));
        assert!(!said.contains(" Found "), "{said}");
    }
    shows(&project, "tally_turn", "out[len - i] = bytes[i]");
    shows(&project, "tally_sum", "known[tally->digits[i]]");
}

/// Elements are in the range that the header states, a buffer has the size that it states, and a
/// callback that maps numbers returns the same result for the same number.
#[test]
fn elements_and_maps_are_as_callers_have_them() {
    let project = library(
        "#include <stddef.h>\ntypedef int glyph;\n\
         /* Packs them in place. The space behind the array must exceed what is in it by one byte, \
         and its entries have to be in the range `0x00` to `0x7F`. */\n\
         void glyphs_pack(glyph *array, size_t length);\n\
         typedef glyph (*glyph_map)(glyph g, void *user);\n\
         long glyphs_kept(const unsigned char *text, size_t length, glyph_map map, void *user);\n",
        "static const unsigned char packed[128] = {1, 2, 3};\n\
         void glyphs_pack(glyph *array, size_t length)\n{\n    unsigned char *to = (unsigned char \
         *)array;\n    for (size_t i = 0; i < length; i++) to[i] = packed[array[i]];\n    \
         to[length * sizeof *array] = 0;\n}\n\
         long glyphs_kept(const unsigned char *text, size_t length, glyph_map map, void *user)\n\
         {\n    size_t kept = 0;\n    for (size_t i = 0; i < length; i++) kept += map(text[i], \
         user) > 64;\n    glyph *all = malloc(kept * sizeof *all);\n    if (kept && !all) return \
         -1;\n    size_t at = 0;\n    for (size_t i = 0; i < length; i++) {\n        glyph g = \
         map(text[i], user);\n        if (g > 64) all[at++] = g;\n    }\n    long sum = 0;\n    \
         for (size_t i = 0; i < kept; i++) sum += all[i];\n    free(all);\n    return sum;\n}\n",
    );
    has(
        &project,
        "glyphs_pack",
        &[
            "data = realloc(data, count * sizeof(glyph) + 1); /* as declared */",
            "data[i] = (glyph)((unsigned long long)data[i] % 128);",
        ],
    );
    has(
        &project,
        "glyphs_kept",
        &["return p1 == from ? to : (glyph)(p1 ^ by);"],
    );
    for name in ["glyphs_pack", "glyphs_kept"] {
        let run = ["run", name, "--max-time", "8s", "--no-emit"];
        tool(&project, &run).expect(exit::CLEAN);
    }
}
