//! Formats native outcomes, faults and places as text.

use std::path::Path;

use cegar_fuzz::native::Outcome;
use cegar_model::program::{CheckKind, Program};
use nix::sys::signal::Signal;

use crate::campaign::native::trap_kind;

/// Shortens the places in a text: paths relative to the root, and files of the stub library by
/// their name.
pub fn readable(program: &Program, root: &Path, text: &str) -> String {
    let mut text = text.replace(&format!("{}/", root.display()), "");
    for file in &program.files {
        if let Some((_, name)) = file.rsplit_once("/sources/src/")
            && text.contains(file.as_str())
        {
            text = text.replace(file.as_str(), &format!("c-stubs/src/{name}"));
        }
    }
    text
}

/// The name that a function has in the source.
pub fn plain(name: &str) -> String {
    cegar_model::program::plain(name).to_owned()
}

pub(super) fn native_kind(outcome: &Outcome) -> CheckKind {
    match outcome {
        Outcome::Violated(violated) => match violated.kind.as_str() {
            "assertion" => CheckKind::Assertion,
            "abort" => CheckKind::Abort,
            "reach_error" => CheckKind::ReachError,
            "fail" => CheckKind::Fail,
            "heap" => CheckKind::Free,
            _ => trap_kind(violated.trap),
        },
        Outcome::Asan(report)
            if report.kind.contains("free") && !report.kind.contains("use-after") =>
        {
            CheckKind::Free
        }
        Outcome::Asan(report) if report.access == "write" => CheckKind::Write,
        Outcome::Crashed(crashed) if crashed.signal == nix::libc::SIGFPE => {
            CheckKind::DivisionByZero
        }
        _ => CheckKind::Read,
    }
}

/// Describes a native outcome.
pub fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Returned => "returns".to_owned(),
        Outcome::Exited(status) => format!("exits with status {status}"),
        Outcome::Rejected => "is rejected by an assumption".to_owned(),
        Outcome::Violated(violated) if violated.what.is_empty() => {
            format!("violates a check ({})", violated.kind)
        }
        Outcome::Violated(violated) => format!("violates `{}` ({})", violated.what, violated.kind),
        Outcome::Crashed(crashed) => match Signal::try_from(crashed.signal) {
            Ok(Signal::SIGFPE) => {
                "dies of signal 8 (SIGFPE: a division by zero, or one that overflows)".to_owned()
            }
            Ok(signal) => format!("dies of signal {} ({signal})", crashed.signal),
            Err(_) => format!("dies of signal {}", crashed.signal),
        },
        Outcome::Asan(report) => {
            format!(
                "AddressSanitizer: {} ({} of {} bytes)",
                report.kind, report.access, report.size
            )
        }
        Outcome::Timeout => "runs into the time limit".to_owned(),
        Outcome::OutOfMemory => "runs into the memory limit".to_owned(),
        Outcome::Unreadable => "cannot be made".to_owned(),
    }
}

pub(super) fn message(kind: CheckKind, detail: &str) -> String {
    let what = match kind {
        CheckKind::Assertion => "assertion fails",
        CheckKind::Abort => "abort is reached",
        CheckKind::ReachError => "the error function is reached",
        CheckKind::Fail => "crunner_fail is reached",
        CheckKind::Read => "invalid read",
        CheckKind::Write => "invalid write",
        CheckKind::Free => "invalid free",
        CheckKind::Call => "invalid call",
        CheckKind::SignedOverflow => "signed overflow",
        CheckKind::Shift => "undefined shift",
        CheckKind::DivisionByZero => "division by zero",
        CheckKind::FloatConversion => "floating-point value that the integer type does not have",
        CheckKind::ArrayBound => "index past an array's bound",
        CheckKind::Unreachable => "code that C says is unreachable is reached",
    };
    let verb = what.strip_prefix("invalid ").unwrap_or_default();
    match detail {
        // An operator alone adds nothing to the place.
        _ if !detail.contains(char::is_alphanumeric) => what.to_owned(),
        _ if detail.starts_with(what) => detail.to_owned(),
        // `invalid read of 4 bytes`, not `invalid read: read of 4 bytes`.
        _ if !verb.is_empty() && detail.starts_with(&format!("{verb} of ")) => {
            format!("invalid {detail}")
        }
        _ if !verb.is_empty() && detail.starts_with(&format!("second {verb} of ")) => {
            detail.to_owned()
        }
        _ => format!("{what}: {detail}"),
    }
}
