//! Preconditions that `init` learns from the faults of its own harnesses: a choice that the harness
//! must not make becomes a precondition, a bug of the library remains a finding, and the maintainer
//! decides about the list of preconditions.

use cegar_tests::{Project, exit, tool};

const HEADER: &str = "#include <stddef.h>\n\
    struct pic_format { int depth; const int *palette; };\n\
    int pic_scale(const unsigned char *data, size_t size, int level);\n\
    int pic_sum(const unsigned char *data, size_t size);\n\
    int pic_mark(void *scratch, const unsigned char *data, size_t size);\n\
    int pic_show(const unsigned char *data, size_t size, struct pic_format *format);\n\
    int pic_name(const unsigned char *data, size_t size, char name[8]);\n";

/// `pic_scale` requires a level of 1 to 9, `pic_mark` memory, `pic_show` a palette; `pic_sum` reads
/// one byte too many, and `pic_name` writes one.
const SOURCE: &str = "#include \"pic.h\"\n\
    static const int steps[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};\n\
    int pic_scale(const unsigned char *data, size_t size, int level)\n\
    {\n\
        int step = steps[level];\n\
        return size > 0 ? 100 / step + data[0] : 0;\n\
    }\n\
    int pic_sum(const unsigned char *data, size_t size)\n\
    {\n\
        int sum = 0;\n\
        for (size_t i = 0; i < size; i++)\n\
            sum += data[i] == 'x' ? data[i + 1] : data[i];\n\
        return sum;\n\
    }\n\
    int pic_mark(void *scratch, const unsigned char *data, size_t size)\n\
    {\n\
        int *marks = scratch;\n\
        marks[0] = size > 2 ? data[2] : 0;\n\
        return marks[0];\n\
    }\n\
    int pic_show(const unsigned char *data, size_t size, struct pic_format *format)\n\
    {\n\
        return size > 1 ? format->palette[data[0] & 7] + format->depth : 0;\n\
    }\n\
    int pic_name(const unsigned char *data, size_t size, char name[8])\n\
    {\n\
        size_t i = 0;\n\
        for (; i < size && i < 8; i++)\n\
            name[i] = (char)data[i];\n\
        name[i] = 0;\n\
        return 0;\n\
    }\n";

fn library() -> Project {
    Project::wrapping("pic", HEADER, SOURCE)
}

/// The harnesses for which a run found a fault, and those for which it reports that the harness is
/// to blame.
fn found(project: &Project, harnesses: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut words = vec!["run", "--runs", "3000", "--message-format", "json"];
    words.extend(harnesses);
    let run = tool(project, &words);
    let of = |reason: &str| {
        let mut names: Vec<String> = run
            .messages()
            .into_iter()
            .filter(|message| message["reason"] == reason)
            .map(|message| message["harness"].as_str().unwrap_or_default().to_owned())
            .collect();
        names.sort();
        names.dedup();
        names
    };
    (of("found"), of("precondition"))
}

#[test]
fn what_a_harness_may_not_choose_is_a_precondition() {
    let project = library();
    let init = tool(&project, &["init", "--most", "99", "--try", "5s"]);
    init.expect(exit::CLEAN).expect_message("preconditions");

    // The range of a setting is narrowed from both sides; memory and a palette are passed.
    let scale = project.read("cegar/harnesses/pic_scale.c");
    assert!(
        scale.contains("crunner_assume(level < 10); /* learnt */"),
        "{scale}"
    );
    let mark = project.read("cegar/harnesses/pic_mark.c");
    assert!(mark.contains("void *scratch = calloc(1, 4096);"), "{mark}");
    let show = project.read("cegar/harnesses/pic_show.c");
    assert!(show.contains("format.palette = (const int *)"), "{show}");
    let contracts = project.read("cegar/contracts.toml");
    for part in [
        "harness = \"pic_scale\"",
        "condition = \"level < 10\"",
        "c/pic.c:5:",
    ] {
        assert!(contracts.contains(part), "{part}\n{contracts}");
    }
    // The library knows the sizes that the header declares, so `pic_sum` and `pic_name` have no
    // precondition.
    assert!(
        !contracts.contains("pic_sum") && !contracts.contains("pic_name"),
        "{contracts}"
    );

    let all = ["pic_scale", "pic_mark", "pic_show", "pic_sum", "pic_name"];
    let (bugs, preconditions) = found(&project, &all);
    assert_eq!(bugs, ["pic_name", "pic_sum"]);
    assert!(preconditions.is_empty(), "{preconditions:?}");

    // An unconfirmed precondition is an assumption of each proof, and `--require-proof` requires
    // its confirmation.
    let words = ["ci", "pic_mark", "--require-proof", "--max-time", "20s"];
    tool(&project, &words)
        .expect(exit::OPEN_GOALS)
        .expect_message(
            "callers keep the preconditions of contracts.toml that nobody has confirmed \
            (pic_mark: ",
        )
        .expect_message("set state = \"confirmed\"");

    // The maintainer confirms one precondition and deletes another. From then on, the fault behind
    // the deleted one is the library's.
    let kept: Vec<&str> = contracts.split("[[precondition]]").collect();
    let kept: Vec<&str> = kept
        .into_iter()
        .filter(|one| !one.contains("\"level < 10\""))
        .collect();
    let kept = kept
        .join("[[precondition]]")
        .replace("\"learnt\"", "\"confirmed\"");
    project.write("cegar/contracts.toml", &kept);
    let run = tool(&project, &["run", "pic_scale", "--runs", "3000"]);
    run.expect(exit::VIOLATION)
        .expect_message("pic_scale no longer assumes `level < 10`")
        .expect_message("assumed for pic_scale");
    let scale = project.read("cegar/harnesses/pic_scale.c");
    assert!(!scale.contains("level < 10"), "{scale}");
    let contracts = project.read("cegar/contracts.toml");
    assert!(contracts.contains("state = \"rejected\""), "{contracts}");
    // A harness that is written again does not learn the rejected precondition again.
    std::fs::remove_file(project.at("cegar/harnesses/pic_scale.c")).expect("removed");
    tool(
        &project,
        &["init", "--function", "pic_scale", "--try", "5s"],
    )
    .expect(exit::CLEAN);
    let scale = project.read("cegar/harnesses/pic_scale.c");
    assert!(!scale.contains("level < 10"), "{scale}");
}

/// A fault in an untried harness is at least attributed to the choice that caused it.
#[test]
fn an_untried_harness_accuses_nobody_of_its_own_choice() {
    let project = library();
    let init = tool(&project, &["init", "--function", "pic_mark", "--no-try"]);
    init.expect(exit::CLEAN);
    assert!(!project.at("cegar/contracts.toml").exists());
    let run = tool(&project, &["run", "--runs", "1000"]);
    run.expect(exit::CLEAN)
        .expect_message("the harness passed NULL as `scratch` of `pic_mark`");
    assert!(!project.at("cegar/tests/pic_mark.rs").exists());
}

#[test]
fn a_damaged_list_of_preconditions_is_named() {
    let project = library();
    tool(&project, &["init", "--function", "pic_sum", "--no-try"]).expect(exit::CLEAN);
    project.write("cegar/contracts.toml", "[[precondition]]\nharness = 3\n");
    for words in [&["run", "--runs", "100"][..], &["init"]] {
        tool(&project, words)
            .expect(exit::USAGE)
            .expect_message("contracts.toml` is not a list of preconditions");
    }
}

const TANK_HEADER: &str = "#include <stddef.h>\n\
    struct tank;\n\
    struct tank *tank_new(void);\n\
    int tank_open(struct tank *tank, unsigned char room);\n\
    int tank_fill(struct tank *tank, const unsigned char *data, size_t size);\n\
    int tank_seal(struct tank *tank);\n\
    int tank_take(struct tank *tank);\n\
    __attribute__((deprecated)) int tank_pour(struct tank *tank, const unsigned char *from);\n\
    void tank_free(struct tank *tank);\n";

/// All other functions require `tank_open` first, which callers are expected to know. `tank_seal`
/// releases the unused cells, but does not update `room`.
const TANK: &str = "#include <stdlib.h>\n\
    #include <string.h>\n\
    #include \"tank.h\"\n\
    struct tank { unsigned char *cells; size_t room, used; };\n\
    struct tank *tank_new(void) { return calloc(1, sizeof(struct tank)); }\n\
    int tank_open(struct tank *tank, unsigned char room)\n\
    {\n\
        free(tank->cells);\n\
        tank->cells = malloc((size_t)room + 8);\n\
        tank->room = tank->cells ? (size_t)room + 8 : 0;\n\
        tank->used = 0;\n\
        if (tank->cells)\n\
            tank->cells[0] = 0;\n\
        return tank->cells != NULL;\n\
    }\n\
    int tank_fill(struct tank *tank, const unsigned char *data, size_t size)\n\
    {\n\
        for (size_t i = 0; i < size && tank->used < tank->room; i++)\n\
            tank->cells[tank->used++] = data[i];\n\
        return tank->cells[0];\n\
    }\n\
    int tank_seal(struct tank *tank)\n\
    {\n\
        unsigned char *less = realloc(tank->cells, tank->used ? tank->used : 1);\n\
        if (less)\n\
            tank->cells = less;\n\
        return less != NULL;\n\
    }\n\
    int tank_take(struct tank *tank)\n\
    {\n\
        return tank->used > 0 ? tank->cells[--tank->used] : -tank->cells[0];\n\
    }\n\
    int tank_pour(struct tank *tank, const unsigned char *from)\n\
    {\n\
        return from[tank->used];\n\
    }\n\
    void tank_free(struct tank *tank)\n\
    {\n\
        free(tank->cells);\n\
        free(tank);\n\
    }\n";

/// The library's own test, the only source for the order of calls.
const TANK_TEST: &str = "#include \"tank.h\"\n\
    int main(int argc, char **argv)\n\
    {\n\
        struct tank *tank = tank_new();\n\
        if (!tank || !tank_open(tank, 3))\n\
            return 1;\n\
        for (int i = 1; i < argc; i++) {\n\
            tank_fill(tank, (const unsigned char *)argv[i], 1);\n\
            if (i == 4)\n\
                tank_seal(tank);\n\
            if (i == 99)\n\
                tank_pour(tank, (const unsigned char *)argv[i]);\n\
        }\n\
        while (tank_take(tank) > 0)\n\
            ;\n\
        tank_free(tank);\n\
        return 0;\n\
    }\n";

/// An object is created, used in the orders that callers show, and released. A fault that needs
/// such an order is found, and an order that no caller shows is not blamed on the library.
#[test]
fn an_object_is_used_as_its_callers_do() {
    let project = Project::wrapping("tank", TANK_HEADER, TANK);
    project.write("c/test/tank_test.c", TANK_TEST);
    let init = tool(&project, &["init", "--most", "99", "--try", "5s"]);
    init.expect(exit::CLEAN)
        .expect_message("harnesses/uses_tank.c");
    let text = project.read("cegar/harnesses/uses_tank.c");
    for part in [
        "c/test/tank_test.c",
        "struct tank *tank = tank_new();",
        "case 0: {",
        "tank_free(tank);",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The deprecated function is not called where others are available.
    assert!(!text.contains("tank_pour("), "{text}");
    let words = [
        "run",
        "uses_tank",
        "--fuzz-only",
        "--runs",
        "200000",
        "--message-format",
        "json",
    ];
    let run = tool(&project, &words);
    let found: Vec<String> = run
        .messages()
        .into_iter()
        .filter(|message| message["reason"] == "found")
        .map(|message| message["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    let is_planted = |name: &String| name.contains("tank_fill") && name.contains("write");
    assert!(
        !found.is_empty() && found.iter().all(is_planted),
        "{found:?}"
    );

    // Without the test no order of calls is known, and none is invented.
    let project = Project::wrapping("tank", TANK_HEADER, TANK);
    tool(&project, &["init", "--most", "99", "--no-try"]).expect(exit::CLEAN);
    assert!(!project.at("cegar/harnesses/uses_tank.c").exists());
}

/// A harness that cannot be tried in time, on a busy machine or for a large library, is written
/// untried and named.
#[test]
fn all_trials_have_an_end() {
    let project = library();
    let init = tool(&project, &["init", "--most", "99", "--try-all", "0s"]);
    init.expect(exit::CLEAN)
        .expect_message("the time for all trials was up (--try-all)")
        .expect_message("yes, not tried to the end");
    assert!(project.at("cegar/harnesses/pic_scale.c").exists());
    assert!(!project.at("cegar/contracts.toml").exists());
}

/// A build treats a deleted entry as rejected, and does not change the source tree.
#[test]
fn a_build_settles_a_deleted_entry_beside_the_tree() {
    let project = library();
    let words = ["init", "--function", "pic_scale", "--try", "5s"];
    tool(&project, &words).expect(exit::CLEAN);
    let contracts = project.read("cegar/contracts.toml");
    assert!(contracts.contains("\"level < 10\""), "{contracts}");
    let kept: Vec<&str> = contracts
        .split("[[precondition]]")
        .filter(|one| !one.contains("\"level < 10\""))
        .collect();
    project.write("cegar/contracts.toml", &kept.join("[[precondition]]"));
    let before = project.read("cegar/harnesses/pic_scale.c");
    let run = tool(&project, &["ci", "--runs", "3000", "--artifacts", "kept"]);
    run.expect(exit::VIOLATION)
        .expect_message("pic_scale no longer assumes `level < 10`");
    assert_eq!(project.read("cegar/harnesses/pic_scale.c"), before);
    let beside = project.read("kept/harnesses/pic_scale.c");
    assert!(!beside.contains("level < 10"), "{beside}");
    assert!(project.read("kept/contracts.toml").contains("\"rejected\""));
}

const SHOP_HEADER: &str = "#include <stddef.h>\n\
    struct shop;\n\
    struct shop *shop_new(void);\n\
    int shop_open(struct shop *shop, int floor);\n\
    int shop_sell(struct shop *shop, const unsigned char *data, size_t size);\n\
    int shop_sum(const int **prices, unsigned int nprices);\n\
    void shop_free(struct shop *shop);\n";

/// Before `shop_open` there is no shelf, as callers know. `shop_sell` does not check that the shelf
/// has only eight places.
const SHOP: &str = "#include <stdlib.h>\n\
    #include \"shop.h\"\n\
    struct shop { unsigned char *shelf; };\n\
    struct shop *shop_new(void) { return calloc(1, sizeof(struct shop)); }\n\
    int shop_open(struct shop *shop, int floor)\n\
    {\n\
        if (floor < 0)\n\
            return -1;\n\
        shop->shelf = calloc(1, 8);\n\
        return shop->shelf ? 0 : -1;\n\
    }\n\
    int shop_sell(struct shop *shop, const unsigned char *data, size_t size)\n\
    {\n\
        int sum = shop->shelf[0];\n\
        for (size_t i = 0; i < size; i++)\n\
            sum += shop->shelf[data[i] & 15];\n\
        return sum;\n\
    }\n\
    int shop_sum(const int **prices, unsigned int nprices)\n\
    {\n\
        int sum = 0;\n\
        for (unsigned int i = 0; i < nprices; i++)\n\
            sum += *prices[i] / 2;\n\
        return sum;\n\
    }\n\
    void shop_free(struct shop *shop) { free(shop->shelf); free(shop); }\n";

const SHOP_TEST: &str = "#include \"shop.h\"\n\
    int main(void)\n\
    {\n\
        struct shop *shop = shop_new();\n\
        if (!shop || shop_open(shop, 3) != 0)\n\
            return 1;\n\
        shop_sell(shop, (const unsigned char *)\"ab\", 2);\n\
        shop_free(shop);\n\
        return 0;\n\
    }\n";

/// The harness first calls the function that callers call before they use the object, so that the
/// fault behind it is found. A parameter that is an array of pointers gets one.
#[test]
fn an_object_is_opened_before_it_is_used() {
    let project = Project::wrapping("shop", SHOP_HEADER, SHOP);
    project.write("c/test/shop_test.c", SHOP_TEST);
    let init = tool(&project, &["init", "--function", "shop_s*", "--try", "5s"]);
    init.expect(exit::CLEAN);
    let sell = project.read("cegar/harnesses/shop_sell.c");
    for part in [
        "`shop_open` comes first, as callers do",
        "if (shop_open(shop, floor) != 0)\n        return 0;",
    ] {
        assert!(sell.contains(part), "{part}\n{sell}");
    }
    let sum = project.read("cegar/harnesses/shop_sum.c");
    for part in ["*prices[16];", "nprices <= 16"] {
        assert!(sum.contains(part), "{part}\n{sum}");
    }
    let run = tool(
        &project,
        &[
            "run",
            "--fuzz-only",
            "--no-emit",
            "--runs",
            "3000",
            "--message-format",
            "json",
        ],
    );
    let found: Vec<String> = run
        .messages()
        .into_iter()
        .filter(|message| message["reason"] == "found")
        .map(|message| message["message"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert!(
        found.len() == 1 && found[0].contains("(8 bytes, heap"),
        "{found:?}"
    );
}

/// The library checks a number, but its check is incomplete: the fault is the library's, not a
/// precondition of its callers.
#[test]
fn a_hole_in_the_librarys_own_guard_is_a_finding() {
    let header = "const char *word(unsigned kind);\nint rate(int level);\n";
    let source = "#include \"word.h\"\n\
        static const char *const words[3] = { \"a\", \"b\", \"c\" };\n\
        const char *word(unsigned kind)\n{\n    if (kind > 3)\n        return 0;\n    return \
        words[kind];\n}\nstatic const int rates[10] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };\n\
        int rate(int level)\n{\n    return rates[level];\n}\n";
    let project = Project::wrapping("word", header, source);
    tool(&project, &["init", "--try", "5s"]).expect(exit::CLEAN);
    let harness = project.read("cegar/harnesses/word.c");
    assert!(!harness.contains("learnt"), "{harness}");
    let harness = project.read("cegar/harnesses/rate.c");
    assert!(harness.contains("crunner_assume(level < 10);"), "{harness}");
    assert_eq!(found(&project, &["word"]).0, ["word"]);
}

/// A member with the name of a count holds the length of the array beside it; an object's `push` is
/// called more than once.
#[test]
fn structures_and_calls_as_callers_have_them() {
    let header = "#include <stdint.h>\n\
        struct text { uint16_t len; uint8_t body[32]; uint8_t end; };\n\
        unsigned text_sum(const struct text *text);\nstruct pile { int used; int items[4]; };\n\
        struct pile *pile_new(void);\nint pile_push(struct pile *pile, int item);\n\
        void pile_free(struct pile *pile);\n";
    let source = "#include \"pile.h\"\n#include <stdlib.h>\n\
        unsigned text_sum(const struct text *text)\n{\n    unsigned sum = 0;\n    for (unsigned i \
        = 0; i < text->len; i++)\n        sum += text->body[i];\n    return sum;\n}\n\
        struct pile *pile_new(void) { return calloc(1, sizeof(struct pile)); }\n\
        int pile_push(struct pile *pile, int item)\n{\n    pile->items[pile->used++] = item;\n    \
        return pile->used;\n}\nvoid pile_free(struct pile *pile) { free(pile); }\n";
    let project = Project::wrapping("pile", header, source);
    tool(&project, &["init", "--try", "5s"]).expect(exit::CLEAN);
    let text = project.read("cegar/harnesses/text_sum.c");
    assert!(text.contains("sizeof text.body"), "{text}");
    let (found, preconditions) = found(&project, &[]);
    assert_eq!(
        (found, preconditions),
        (vec!["pile_push".to_owned()], vec![])
    );
}

/// Each function except `cnt_kinds` and `cnt_size` has a fault of its own.
const COUNTED: &str = "#include \"cnt.h\"\n\
    int cnt_total(const int *values, size_t n)\n\
    { int sum = 0; for (size_t i = 0; i <= n; i++) sum ^= values[i]; return sum; }\n\
    int cnt_points(const struct point *points, size_t count)\n\
    { int sum = 0; for (size_t i = 0; i <= count; i++) sum ^= points[i].y; return sum; }\n\
    int cnt_kinds(const enum kind *kinds, size_t count)\n\
    { int sum = 0; for (size_t i = 0; i < count; i++) sum ^= (int)kinds[i]; return sum; }\n\
    int cnt_kind(enum kind kind)\n\
    { static const int table[2] = {3, 4}; return table[kind]; }\n\
    int cnt_none(int at)\n\
    { static int *none; return none[at & 3]; }\n\
    int cnt_size(enum size size)\n\
    { if (size == ONE || size == TWO || size == FOUR) return size; return *(volatile int *)0; }\n";

#[test]
fn what_a_header_declares_and_what_nobody_chose_is_no_precondition() {
    let header = "#include <stddef.h>\n\
        enum kind { FIRST, SECOND, THIRD };\nenum size { ONE = 1, TWO = 2, FOUR = 4 };\n\
        struct point { char tag; int y; };\n\
        int cnt_total(const int *values, size_t n);\n\
        int cnt_points(const struct point *points, size_t count);\n\
        int cnt_kinds(const enum kind *kinds, size_t count);\n\
        int cnt_kind(enum kind kind);\nint cnt_none(int at);\nint cnt_size(enum size size);\n";
    let project = Project::wrapping("cnt", header, COUNTED);
    tool(&project, &["init", "--no-try", "--most", "99"]).expect(exit::CLEAN);
    let (faults, preconditions) = found(&project, &[]);
    assert_eq!(faults, ["cnt_kind", "cnt_none", "cnt_points", "cnt_total"]);
    assert!(preconditions.is_empty(), "{preconditions:?}");
}
