//! Known faults of published crates are found again: a harness, a campaign of at most five minutes,
//! and a failing test.
//!
//! Ignored by default, since the tests download the crates and take minutes. `cargo xtask nightly`
//! runs them:
//!
//! ```text
//! cargo test --workspace --test known_faults -- --ignored --test-threads 1
//! ```
//!
//! `docs/real-crates.md` gives the time for each fault. zlib's fault is in `real_c.rs`, together
//! with the release that fixes it.

use std::time::Duration;

use cegar_tests::{Ended, Project, Tool, cargo_test, exit};

/// A known fault and its place.
struct Known<'a> {
    package: &'a str,
    /// The version requirement in the manifest.
    version: &'a str,
    harness: &'a str,
    /// The harness's text; `None` if `init` writes it.
    text: Option<&'a str>,
    /// A part of the name of the faulty file.
    file: &'a str,
}

impl Known<'_> {
    fn tool(&self, project: &Project, words: &[&str]) -> Ended {
        let words = words.iter().copied().chain(["-p", self.package]);
        let limit = Duration::from_secs(900);
        Tool::new(project.path(), words).limit(limit).run()
    }

    /// Finds the fault as a user of the crate would.
    fn rediscover(&self) {
        let project = Project::empty();
        project.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                 [workspace]\n\n[dependencies]\n{} = {}\n",
                self.package, self.version
            ),
        );
        project.write("src/lib.rs", "//! Empty.\n");
        let folder = format!("cegar-{}", self.package);
        match self.text {
            Some(text) => {
                self.tool(&project, &["init", "--name", self.harness])
                    .expect(exit::CLEAN);
                let file = format!("{folder}/harnesses/{}.c", self.harness);
                project.write(&file, text);
            }
            None => {
                let words = ["init", "--function", self.harness, "--no-try"];
                self.tool(&project, &words).expect(exit::CLEAN);
            }
        }
        let words = ["run", self.harness, "--max-time", "5m"];
        let run = self.tool(
            &project,
            &[&words[..], &["--message-format", "json"]].concat(),
        );
        run.expect(exit::VIOLATION);
        let messages = run.messages();
        let found = messages
            .iter()
            .filter(|message| message["reason"] == "found")
            .find(|found| {
                let file = found["place"]["file"].as_str();
                file.is_some_and(|file| file.contains(self.file))
            })
            .unwrap_or_else(|| panic!("not found\n{run}"));
        let test = found["name"].as_str().unwrap_or_default();
        let failing = cargo_test(&project.at(&folder), &[test]);
        assert!(
            failing.code != Some(0) && failing.stdout.contains(&format!("test {test} ... FAILED")),
            "the test was to fail\n{failing}"
        );
    }
}

/// Two reads past the end of the input.
#[test]
#[ignore = "downloads lzf-sys 0.1.1; up to five minutes"]
fn lzf_reads_past_its_input() {
    Known {
        package: "lzf-sys",
        version: "\"=0.1.1\"",
        harness: "lzf_decompress",
        text: None,
        file: "lzf_d.c",
    }
    .rediscover();
}

/// A comparison with the four bytes of a chunk's name reads past a shorter input.
#[test]
#[ignore = "downloads wavpack-sys 0.4.0; up to five minutes"]
fn wavpack_compares_a_short_chunk() {
    Known {
        package: "wavpack-sys",
        version: "\"=0.4.0\"",
        harness: "WavpackOpenRawDecoder",
        text: None,
        file: "open_raw.c",
    }
    .rediscover();
}

/// Tables in a JPEG file contain more codes than the arrays can hold.
#[test]
#[ignore = "downloads stb_image 0.2.4; up to five minutes"]
fn stb_image_reads_too_many_codes() {
    Known {
        package: "stb_image",
        version: "\"=0.2.4\"",
        harness: "image",
        text: Some(IMAGE),
        file: "stb_image",
    }
    .rediscover();
}

/// The harness of a program that shows any picture.
const IMAGE: &str = "#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

unsigned char *stbi_load_from_memory(const unsigned char *data, int length, int *x, int *y, int *channels, int wanted);
void stbi_image_free(void *image);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int x, y, channels;
    stbi_image_free(stbi_load_from_memory(data, (int)size, &x, &y, &channels, 4));
    return 0;
}
";
