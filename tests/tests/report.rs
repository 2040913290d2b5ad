//! The report as its readers see it: in a browser, with hostile sources, and for runs that failed.
//!
//! The browser is Debian's Chromium in headless mode; `cargo xtask setup` installs it. The tests
//! fail if it is missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use cargo_cegar::coverage::Coverage;
use cargo_cegar::explain::StoredCampaign;
use cargo_cegar::report::html::{Chapter, PAGE, page};
use cargo_cegar::report::{GoalKind, GoalStatus};
use cegar_tests::{Ended, Project, Tool, exit};

/// Two functions with a harness each: `demo` reads past the end of its input, `picture` never gets
/// a picture of positive size.
const C: &str = "\
static int never(unsigned char c)\r
{\r
\tif (c > 200 && c < 100)\r
\t\treturn 3; /* </pre><script>alert(1)</script> \u{202e} */\r
\treturn c == 'x';\r
}\r
\r
int demo(const unsigned char *data, size_t size)\r
{\r
\tif (size >= 2 && data[0] == 'g' && never(data[1]))\r
\t\treturn data[size];\r
\treturn 0;\r
}\r
\r
struct picture { int width, height; unsigned char *pixels; };\r
\r
int import(struct picture *to, const unsigned char *rgb, int stride)\r
{\r
\tint x, y;\r
\tif (to->width <= 0)\r
\t\treturn 0;\r
\tfor (y = 0; y < to->height; ++y)\r
\t\tfor (x = 0; x < to->width; ++x)\r
\t\t\tto->pixels[y * to->width + x] = rgb[y * stride + x * 3];\r
\treturn 1;\r
}\r
\r
int picture(const unsigned char *data, size_t size)\r
{\r
\tstruct picture empty = { 0, 0, 0 };\r
\treturn size ? import(&empty, data, 3) : 0;\r
}\r
";

fn package_with_two_harnesses() -> Project {
    let project = Project::package(C);
    let header =
        project.read("c/demo.h") + "int picture(const unsigned char *data, size_t size);\n";
    project.write("c/demo.h", &header);
    let harness = project.read("cegar/harnesses/demo.c");
    let harness = harness.replace("demo(data", "picture(data");
    project.write("cegar/harnesses/picture.c", &harness);
    // The file contains a line of a megabyte, and bytes that are not valid text.
    let text = format!("#include \"demo.h\"\r\n{C}");
    let at = text.find("return 0;").unwrap_or_default();
    let mut hostile = text.into_bytes();
    let long = [&b"/*"[..], &vec![b'\xff'; 1 << 20], b"*/"].concat();
    hostile.splice(at..at, long);
    fs::write(project.at("c/a&b <\"x\">.c"), hostile).unwrap_or_else(|why| panic!("{why}"));
    fs::remove_file(project.at("c/demo.c")).unwrap_or_else(|why| panic!("{why}"));
    project.write(
        "cegar/cegar.toml",
        "[c]\nsources = ['../c/a&b <\"x\">.c']\nincludes = [\"../c\"]\n\n[harness.demo]\n\
         [harness.picture]\nproperty = \"all\"\n",
    );
    project
}

fn ci(project: &Project, words: &[&str]) -> Ended {
    let fixed = ["ci", "--runs", "300"];
    Tool::new(project.path(), fixed.iter().chain(words))
        .without("GITHUB_STEP_SUMMARY")
        .run()
}

/// Opens a page in the headless browser. Returns what the browser prints.
fn browse(project: &Project, page: &str, words: &[&str]) -> String {
    let profile = project.at("browser");
    let ended = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args([
            "--no-first-run",
            "--disable-background-networking",
            "--disable-sync",
        ])
        .args(["--disable-component-update", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(words)
        .arg(format!("file://{}", project.at(page).display()))
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|why| {
            panic!("chromium cannot be started ({why}): `cargo xtask setup` installs it")
        });
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// The colours of all pixels that a window of this size shows without scrolling.
fn colours(project: &Project, page: &str, size: &str) -> Vec<[u8; 3]> {
    let to = project.at("page.png");
    let picture = format!("--screenshot={}", to.display());
    browse(project, page, &[&format!("--window-size={size}"), &picture]);
    let bytes = fs::read(&to).unwrap_or_else(|why| panic!("{}: {why}", to.display()));
    let header = minipng::decode_png_header(&bytes).unwrap_or_else(|why| panic!("{why}"));
    let mut buffer = vec![0; header.required_bytes_rgba8bpc()];
    let mut image = minipng::decode_png(&bytes, &mut buffer).unwrap_or_else(|why| panic!("{why}"));
    image
        .convert_to_rgba8bpc()
        .unwrap_or_else(|why| panic!("{why}"));
    let pixels = image.pixels().chunks_exact(4);
    pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

/// The reports of one build about its finding and about what was never tested.
#[test]
fn the_page_opens_on_the_findings() {
    let project = package_with_two_harnesses();
    let files = [
        "--html",
        "a.html",
        "--summary",
        "a.md",
        "--junit",
        "a.xml",
        "--json",
        "a.json",
    ];
    let ended = ci(&project, &files);
    ended.expect(exit::VIOLATION);

    // A vacuous proof is marked as such in all reports, with the branch that makes the code
    // unreachable.
    let why = "a&b <\"x\">.c:21:6: `if (to->width <= 0)` is never false";
    ended.expect_message("Vacuous picture:").expect_message(why);
    let summary = project.read("a.md");
    assert!(summary.contains("### Vacuous"), "{summary}");
    assert!(summary.contains("is never false"), "{summary}");
    assert!(
        project
            .read("a.xml")
            .contains("unreachable from this harness")
    );
    let report: serde_json::Value =
        serde_json::from_str(&project.read("a.json")).unwrap_or_else(|why| panic!("{why}"));
    let picture = &report["harnesses"][1];
    let number = |name: &str| {
        picture["goals"]["checks"][name]
            .as_u64()
            .unwrap_or_default()
    };
    assert!(number("unreachable") > number("proved"), "{report}");
    assert_eq!(picture["verdict"], "proved", "{report}");
    assert_eq!(picture["vacuous"]["unreachable"], number("unreachable"));
    let list = Tool::new(project.path(), ["list"]).run();
    assert!(
        list.stdout.contains(" unreachable, 0 open (vacuous)"),
        "{list}"
    );
    let explain = ["explain", "c/a&b <\"x\">.c:25", "--harness", "picture"];
    let explained = Tool::new(project.path(), explain).run();
    let said = explained
        .stdout
        .replace(&project.path().display().to_string(), "");
    assert!(
        said.contains("unreachable from this harness: "),
        "{explained}"
    );
    assert!(said.contains("the way to it is blocked at"), "{explained}");

    // The page as the browser parses it.
    let dom = browse(&project, "a.html", &["--dump-dom"]);
    let at = |text: &str| {
        dom.find(text)
            .unwrap_or_else(|| panic!("no `{text}` in\n{dom}"))
    };
    assert!(at("id=\"findings\"") < at("id=\"files\""), "{dom}");
    assert!(at("id=\"files\"") < at("id=\"harnesses\""), "{dom}");
    assert!(
        at("<details class=\"finding\"") < at("id=\"files\""),
        "{dom}"
    );
    assert!(at("<b>Vacuous</b> picture:") < at("id=\"files\""), "{dom}");
    assert!(
        at("<b>1 violation was found.</b>") < at("id=\"findings\""),
        "{dom}"
    );
    assert!(at("<mark>") < at("id=\"files\""), "{dom}");
    assert!(
        !dom.contains("<script") && dom.contains("&lt;script&gt;"),
        "{dom}"
    );
    assert!(!dom.contains('\u{202e}') && dom.contains("U+202E"), "{dom}");
    assert!(dom.contains("a&amp;b &lt;\"x\"&gt;.c"), "{dom}");
    assert!(dom.contains("bytes more</s>"), "{dom}");
    assert!(dom.len() < 100_000, "{}", dom.len());
    // Each link has a target.
    for link in dom.split("href=\"#").skip(1) {
        let anchor = link.split('"').next().unwrap_or_default();
        assert!(
            dom.contains(&format!("id=\"{anchor}\"")),
            "no {anchor} in\n{dom}"
        );
    }

    // The finding is visible without scrolling, in a wide window and in a narrow one.
    for size in ["1200,800", "420,800"] {
        let pixels = colours(&project, "a.html", size);
        let kinds: BTreeSet<&[u8; 3]> = pixels.iter().collect();
        assert!(kinds.len() > 20, "{size}: {} colours", kinds.len());
        // The text colour of violations, in the light or in the dark scheme.
        let bad = [[0xa3, 0x14, 0x0f], [0xff, 0x9a, 0x92]];
        let red = pixels.iter().filter(|pixel| bad.contains(pixel)).count();
        assert!(red > 500, "{size}: {red} of {} pixels", pixels.len());
    }
}

/// The folder of a campaign on `ring.c`.
fn left() -> Project {
    let project = Project::program("ring.c");
    let words =
        "check ring.c --property assertion --engine-only --runs 1 --no-emit --certificate left";
    Tool::new(project.path(), words.split(' '))
        .run()
        .expect(exit::CLEAN);
    project
}

fn chapter(folder: &Path, harness: &str, change: impl FnOnce(&mut StoredCampaign)) -> Chapter {
    let mut chapter =
        Chapter::read(harness, folder, &[]).unwrap_or_else(|why| panic!("{harness}: {why}"));
    change(&mut chapter.left);
    chapter.coverage = Coverage::of(&chapter.left);
    chapter
}

/// Whatever a campaign left, the page reports it within its size limit, and names what it leaves
/// out.
#[test]
fn pages_of_what_nobody_hopes_for() {
    let project = left();
    let folder = project.at("left");

    // No harness ran.
    let why = "no campaign of it has come to its end".to_owned();
    let none = page("a <b>", &[], &[("x\"<&>\n".to_owned(), why)]);
    assert!(
        none.contains("No harness has a result: nothing was tested."),
        "{none}"
    );
    assert!(
        none.contains("x&quot;&lt;&amp;&gt;\n: no campaign"),
        "{none}"
    );

    // The source file is missing.
    let text = project.read("ring.c");
    fs::remove_file(project.at("ring.c")).unwrap_or_else(|why| panic!("{why}"));
    let gone = page("gone", &[chapter(&folder, "a", |_| {})], &[]);
    assert!(gone.contains("The source cannot be read: "), "{gone}");
    project.write("ring.c", &text);

    // Two harnesses disagree, about checks and about lines; one of them was interrupted.
    let dead = chapter(&folder, "b", |left| {
        for goal in &mut left.kept.goals {
            goal.status = GoalStatus::Unreachable;
        }
        left.kept.end = cargo_cegar::campaign::alternate::End::Interrupted;
    });
    let covered = chapter(&folder, "a", |left| {
        for goal in &mut left.kept.goals {
            goal.status = match goal.kind {
                GoalKind::Edge => GoalStatus::Covered,
                GoalKind::Check => GoalStatus::Proved {
                    reached: true,
                    given: Vec::new(),
                },
            };
        }
    });
    let both = page("both", &[covered, dead], &[]);
    assert!(both.contains("proved from a; unreachable from b"), "{both}");
    assert!(both.contains("100.0% of the lines"), "{both}");
    assert!(both.contains("<b>Interrupted</b> b"), "{both}");

    // Ten thousand findings, half of them without a line, and a hundred thousand checks.
    let many = chapter(&folder, "m", |left| {
        let goal = left.kept.goals[0].clone();
        for number in 0..100_000u32 {
            let mut goal = goal.clone();
            goal.kind = GoalKind::Check;
            goal.id = number;
            goal.check = Some(cegar_model::program::CheckKind::Read);
            goal.place.line = number / 3;
            goal.place.function = format!("f{}", number / 50);
            goal.place.file = format!("c/file{}.c", number / 5000);
            goal.expression = format!("p->member{number}[i + {number}]");
            goal.status = GoalStatus::Open {
                why: format!("reason {}", number % 7),
            };
            if number % 10 == 0 {
                let finding = cargo_cegar::report::Finding {
                    blame: None,
                    harness: "m".to_owned(),
                    name: format!("invalid_read_{number}"),
                    kind: cegar_model::program::CheckKind::Read,
                    message: format!("read {number} <bytes>"),
                    place: cargo_cegar::report::Place {
                        line: if number % 20 == 0 { 0 } else { number },
                        ..goal.place.clone()
                    },
                    stack: Vec::new(),
                    input: Vec::new(),
                    found_by: "fuzzing".to_owned(),
                    identity: cargo_cegar::findings::Identity {
                        occurrence: number,
                        ..Default::default()
                    },
                    standing: Default::default(),
                };
                left.kept.findings.push((Some(number), finding));
                goal.status = GoalStatus::Violated;
            }
            left.kept.goals.push(goal);
        }
    });
    let many = page("many", &[many], &[]);
    assert!(many.len() < PAGE, "{}", many.len());
    assert!(
        many.contains("What this page leaves out"),
        "too little was told"
    );
    assert!(many.contains("m/goals.json"));
    assert!(many.contains("10000 violations were found.") || many.contains("10001 violations"));
}

/// A function that no harness calls counts as open, and is named.
#[test]
fn functions_that_no_harness_reaches_are_named() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size) { return size && data[0] == 7; }\n\
         static int half(int n) { return n / 2; }\n\
         int spare(int n)\n{\n    return half(n);\n}\n",
    );
    let words = ["run", "--runs", "10", "--engine-only", "--no-emit"];
    Tool::new(project.path(), words).run().expect(exit::CLEAN);
    let lcov = project.path().join("lcov.info");
    let words = ["coverage", "--lcov", lcov.to_str().expect("UTF-8")];
    let table = Tool::new(project.path(), words).run();
    let row = table
        .stdout
        .lines()
        .find(|row| row.contains("no harness reaches"));
    let row = row.unwrap_or_else(|| panic!("{table}"));
    assert!(row.ends_with("half, spare"), "{table}");
    assert!(!table.stdout.contains("100.0%\n"), "{table}");
    let records = project.read("lcov.info");
    assert!(records.contains("FNDA:0,spare\n"), "{records}");
    let table = Tool::new(project.path(), ["coverage", "demo"]).run();
    assert!(!table.stdout.contains("spare"), "{table}");
}

/// There is no percentage of zero lines.
#[test]
fn coverage_of_nothing_is_not_all() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size) { return size && data[0] == 7; }\n",
    );
    let words = ["run", "--runs", "10", "--engine-only", "--no-emit"];
    Tool::new(project.path(), words).run().expect(exit::CLEAN);
    // The files of a campaign whose executions all failed to start.
    let file = "target/cegar/demo/goals.json";
    let goals = project
        .read(file)
        .replace("\"covered\"", "\"open\",\"why\":\"x\"");
    project.write(file, &goals);
    let table = Tool::new(project.path(), ["coverage"]).run();
    table
        .expect(exit::CLEAN)
        .expect_message("no execution was seen of demo");
    assert!(
        table.stdout.contains("0.0%") && !table.stdout.contains("100.0%"),
        "{table}"
    );
    // The files of a campaign from whose harness no code is reachable.
    let goals = goals.replace("\"open\",\"why\":\"x\"", "\"unreachable\"");
    project.write(file, &goals);
    let table = Tool::new(project.path(), ["coverage"]).run();
    table.expect(exit::CLEAN);
    assert!(!table.stdout.contains('%'), "{table}");
}
