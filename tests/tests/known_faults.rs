//! Faults of published crates that are known, found again: a harness, a campaign of at most five
//! minutes, and a test that fails.
//!
//! Ignored by default, since it downloads the crates and takes minutes; `cargo xtask nightly` runs
//! it:
//!
//! ```text
//! cargo test --workspace --test known_faults -- --ignored --test-threads 1
//! ```
//!
//! `docs/real-crates.md` says how long each takes. The one of zlib is in `real_c.rs`, with the
//! release that mends it.

use std::time::Duration;

use cegar_tests::{Ended, Project, Tool, cargo_test, exit};

/// A fault, and where it is.
struct Known<'a> {
    package: &'a str,
    /// What follows the crate's name in the manifest.
    version: &'a str,
    harness: &'a str,
    /// The harness's text; none where `init` writes it.
    text: Option<&'a str>,
    /// A part of the file's name.
    file: &'a str,
}

impl Known<'_> {
    fn tool(&self, project: &Project, words: &[&str]) -> Ended {
        let words = words.iter().copied().chain(["-p", self.package]);
        let limit = Duration::from_secs(900);
        Tool::new(project.path(), words).limit(limit).run()
    }

    /// Finds it as the crate's user would.
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

/// An input that is shorter than the four bytes of a chunk's name.
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

/// Tables of a JPEG file with more codes than the arrays have room for.
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

/// What a program does that shows any picture.
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
