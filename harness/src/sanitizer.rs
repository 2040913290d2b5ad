//! Parses the reports of sanitizers.
//!
//! A sanitizer's report is written for a terminal. A failed test should first say one sentence and
//! one place, so this module extracts the summary and the first frame in the user's own code.
//! Frames of the runtime and the stubs are skipped, since `memcpy` is never at fault. The runtimes
//! of gcc and clang print nearly the same. If no symbolizer is installed, a frame has a module
//! offset, which `addr2line` can still map to a line.

use std::path::Path;
use std::process::Command;

use crate::outcome::Place;

/// The essence of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gist {
    /// One sentence.
    pub summary: String,
    /// The first frame in the user's code.
    pub at: Option<Place>,
}

/// The gist of a process's stderr, if a sanitizer wrote to it.
pub(crate) fn read(stderr: &str, runner: &Path) -> Option<Gist> {
    address(stderr, runner).or_else(|| undefined(stderr))
}

/// Parses `==1==ERROR: AddressSanitizer: heap-buffer-overflow on address ...`, then `WRITE of size
/// 1 at ...`, then frames.
fn address(stderr: &str, runner: &Path) -> Option<Gist> {
    let mut lines = stderr.lines().skip_while(|line| !is_error(line));
    let first = lines.next()?;
    let (tool, said) = [
        "AddressSanitizer",
        "LeakSanitizer",
        "UndefinedBehaviorSanitizer",
    ]
    .iter()
    .find_map(|tool| Some((*tool, first.split_once(&format!("{tool}: "))?.1)))?;
    let name = said
        .split(" on ")
        .next()
        .unwrap_or(said)
        .split(" (")
        .next()
        .unwrap_or(said)
        .trim();
    let mut summary = match tool {
        "LeakSanitizer" => "memory leak".to_owned(),
        _ => name.trim_end_matches(':').to_owned(),
    };
    let mut at = None;
    for line in lines {
        let line = line.trim();
        if let Some(access) = line
            .split(" at 0x")
            .next()
            .filter(|a| a.starts_with("READ of") || a.starts_with("WRITE of"))
        {
            summary = format!("{summary}: {access}");
        }
        if line.starts_with('#') {
            at = frame(line, runner);
        }
        if at.is_some() || line.starts_with("SUMMARY") {
            break;
        }
    }
    Some(Gist { summary, at })
}

fn is_error(line: &str) -> bool {
    line.contains("ERROR: AddressSanitizer")
        || line.contains("ERROR: LeakSanitizer")
        || line.contains("ERROR: UndefinedBehaviorSanitizer")
}

/// Parses `dir/file.c:7:12: runtime error: signed integer overflow: ...`.
fn undefined(stderr: &str) -> Option<Gist> {
    let (place, said) = stderr
        .lines()
        .find_map(|line| line.split_once(": runtime error: "))?;
    Some(Gist {
        summary: said.trim().to_owned(),
        at: source(place, None),
    })
}

/// Parses `#0 0x55 in name path:line:column`, or with `(module+0xoffset)` in place of the position.
pub(crate) fn frame(line: &str, runner: &Path) -> Option<Place> {
    let (_, rest) = line.split_once(" in ").or_else(|| line.split_once(' '))?;
    let (function, position) = rest.split_once(' ').unwrap_or(("", rest));
    if of_the_runtime(function) {
        return None;
    }
    let place = match position.rsplit_once("+0x") {
        Some((_, offset)) if position.contains('(') => {
            let hex: String = offset.chars().take_while(char::is_ascii_hexdigit).collect();
            resolve(u64::from_str_radix(&hex, 16).ok()?, runner)
        }
        _ => source(position, Some(function)),
    }?;
    let runtime = place.function.as_deref().is_some_and(of_the_runtime);
    (!runtime
        && !place.file.contains("/sanitizer_common/")
        && !place.file.contains("/libsanitizer/"))
    .then_some(place)
}

/// The place of an offset in the executable, from the first symbolizer that is installed.
pub(crate) fn resolve(offset: u64, runner: &Path) -> Option<Place> {
    let offset = format!("{offset:#x}");
    ["addr2line", "llvm-addr2line", "llvm-addr2line-19"]
        .iter()
        .find_map(|tool| {
            let out = Command::new(tool)
                .arg("-f")
                .arg("-e")
                .arg(runner)
                .arg(&offset)
                .output()
                .ok()?;
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            let mut lines = text.lines();
            let function = lines.next()?.to_owned();
            source(
                lines.next()?,
                Some(function.as_str()).filter(|f| *f != "??"),
            )
        })
}

/// Parses `path:line[:column]`, possibly with ` (discriminator 2)` after it.
fn source(text: &str, function: Option<&str>) -> Option<Place> {
    let text = text.split(" (").next().unwrap_or(text);
    let mut parts = text.rsplitn(3, ':');
    let (last, middle) = (parts.next()?, parts.next()?);
    let (file, line) = match (parts.next(), middle.parse::<u32>()) {
        (Some(file), Ok(line)) => (file.to_owned(), line),
        _ => (text.rsplit_once(':')?.0.to_owned(), last.parse().ok()?),
    };
    (line > 0 && !file.starts_with("??")).then(|| Place {
        file,
        line,
        function: function.map(user_name),
    })
}

/// The user's own name of a function that the build renamed.
fn user_name(function: &str) -> String {
    match function {
        "cegar_user_main" => "main".to_owned(),
        other => other.to_owned(),
    }
}

fn of_the_runtime(function: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "__asan",
        "__interceptor",
        "__ubsan",
        "__sanitizer",
        "__lsan",
        "crunner_",
        "CRUNNER_",
        "cegar_entry",
        "___interceptor",
    ];
    PREFIXES.iter().any(|prefix| function.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
=================================================================
==12==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x7ffd at pc 0x55 bp 0x7f sp 0x7f
WRITE of size 6 at 0x7ffd thread T0
    #0 0x7f3 in __interceptor_memcpy ../../../../src/libsanitizer/sanitizer_common/x.inc:827
    #1 0x55a in copy_name /p/src/header.c:88
    #2 0x55a in main /p/src/main.c:3:5
SUMMARY: AddressSanitizer: stack-buffer-overflow /p/src/header.c:88 in copy_name
";

    #[test]
    fn the_first_frame_of_the_user_counts() {
        let gist = read(REPORT, Path::new("/nowhere")).expect("a report");
        assert_eq!(gist.summary, "stack-buffer-overflow: WRITE of size 6");
        let at = gist.at.expect("a place");
        assert_eq!(at.to_string(), "/p/src/header.c:88 in copy_name");
    }

    #[test]
    fn undefined_behaviour_has_its_place_in_front() {
        let text = "a/b.c:7:12: runtime error: signed integer overflow: 1 + 2147483647 cannot be \
            represented";
        let gist = read(text, Path::new("/nowhere")).expect("a report");
        assert!(gist.summary.starts_with("signed integer overflow"));
        assert_eq!(gist.at.expect("a place").to_string(), "a/b.c:7");
    }

    #[test]
    fn other_output_is_none() {
        assert_eq!(read("hello\nworld: 3\n", Path::new("/nowhere")), None);
    }
}
