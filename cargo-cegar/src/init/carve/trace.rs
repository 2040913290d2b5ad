//! Reads the trace of a recorded process: one line for the start of each call, and one for its end.
//!
//! The process may have died in the middle of a line, so incomplete lines are ignored. A call
//! without an end is the one during which the process died.

use std::collections::HashMap;
use std::path::Path;

/// A value that was passed or returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// An integer, sign-extended to 64 bits.
    Int(u64),
    /// A floating-point number.
    Float,
    /// A pointer, and the bytes behind it before the call.
    Pointer { address: u64, bytes: Vec<u8> },
    /// A function pointer.
    Code(u64),
    /// No value.
    Nothing,
}

impl Value {
    /// The value as a number; 0 if it is not recorded.
    pub fn bits(&self) -> u64 {
        match self {
            Value::Int(bits) | Value::Code(bits) => *bits,
            Value::Pointer { address, .. } => *address,
            Value::Float | Value::Nothing => 0,
        }
    }

    /// The bytes behind a pointer; empty for other values.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Value::Pointer { bytes, .. } => bytes,
            _ => &[],
        }
    }
}

/// A recorded call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub function: String,
    pub args: Vec<Value>,
    /// Its result; `None` if it did not return.
    pub result: Option<Value>,
    /// The small values that it wrote, by parameter index.
    pub wrote: HashMap<usize, Vec<u8>>,
}

/// The calls of one thread of one process, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Run {
    /// The name of the test or example.
    pub name: String,
    pub calls: Vec<Call>,
}

/// Reads all traces in a folder, one run for each thread. Also returns whether a trace was
/// truncated because of its length.
pub(super) fn read(folder: &Path, name: &str) -> (Vec<Run>, bool) {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "trace")
        })
        .collect();
    files.sort();
    let (mut runs, mut full) = (Vec::new(), false);
    for file in files {
        let text = std::fs::read(&file).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        full |= text.lines().any(|line| line == "N full");
        runs.extend(parse(&text, name));
    }
    (runs, full)
}

fn parse(text: &str, name: &str) -> Vec<Run> {
    let mut threads: Vec<(u64, Run)> = Vec::new();
    let mut places: HashMap<u64, (usize, usize)> = HashMap::new();
    let mut full = false;
    for line in text.lines() {
        let mut words = line.split(' ');
        match words.next() {
            Some("N") => full = true,
            Some("B") => {
                let (Some(number), Some(thread), Some(function)) =
                    (hex(words.next()), hex(words.next()), words.next())
                else {
                    continue;
                };
                let Some(args) = words.map(value).collect::<Option<Vec<Value>>>() else {
                    continue;
                };
                let known = threads.iter().position(|(id, _)| *id == thread);
                let at = known.unwrap_or_else(|| {
                    let run = Run {
                        name: name.to_owned(),
                        calls: Vec::new(),
                    };
                    threads.push((thread, run));
                    threads.len() - 1
                });
                let calls = &mut threads[at].1.calls;
                places.insert(number, (at, calls.len()));
                calls.push(Call {
                    function: function.to_owned(),
                    args,
                    result: None,
                    wrote: HashMap::new(),
                });
            }
            Some("E") => {
                let Some(place) = hex(words.next()).and_then(|number| places.get(&number)) else {
                    continue;
                };
                let Some(result) = words.next().and_then(value) else {
                    continue;
                };
                let call = &mut threads[place.0].1.calls[place.1];
                call.result = Some(result);
                for word in words {
                    if let Some((at, bytes)) = word.split_once(':')
                        && let (Some(at), Some(bytes)) = (hex(Some(at)), unhex(bytes))
                    {
                        call.wrote.insert(at as usize, bytes);
                    }
                }
            }
            _ => {}
        }
    }
    // A full trace has no ends of the calls that ran when it became full: they did not crash.
    if full {
        for (_, run) in &mut threads {
            run.calls.retain(|call| call.result.is_some());
        }
    }
    threads.into_iter().map(|(_, run)| run).collect()
}

fn value(word: &str) -> Option<Value> {
    let (kind, rest) = word.split_at_checked(1)?;
    Some(match kind {
        "i" => Value::Int(hex(Some(rest))?),
        "d" => Value::Float,
        "f" => Value::Code(hex(Some(rest))?),
        "v" => Value::Nothing,
        "p" => {
            let (address, bytes) = rest.split_once(':').unwrap_or((rest, ""));
            Value::Pointer {
                address: hex(Some(address))?,
                bytes: unhex(bytes)?,
            }
        }
        _ => return None,
    })
}

fn hex(word: Option<&str>) -> Option<u64> {
    u64::from_str_radix(word?, 16).ok()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks_exact(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// A little-endian number of up to eight bytes.
pub(super) fn little(bytes: &[u8]) -> u64 {
    let mut whole = [0u8; 8];
    for (to, from) in whole.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_trace_has_no_crash() {
        let runs = parse("B 1 a f i1\nB 2 b g i2\nE 2 i0\nN full\n", "t");
        assert!(runs[0].calls.is_empty());
        assert_eq!(runs[1].calls.len(), 1);
    }

    #[test]
    fn what_is_whole_counts() {
        let text = "B 1 a open i2\nE 1 p1000:\nB 2 a feed p1000: p20:6162 i2\nB 3 b open i3\n\
            E 2 i0\nB 4 a close p10";
        let runs = parse(text, "t");
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[0].calls.len(), 3);
        assert_eq!(runs[0].calls[1].args[1].bytes(), b"ab");
        assert_eq!(
            runs[0].calls[0].result.as_ref().map(Value::bits),
            Some(0x1000)
        );
        assert_eq!(runs[1].calls[0].result, None);
        assert!(
            parse("B 1 a f p1:6\nB x\nE 9 i0\nzzz", "t")[0].calls[0].args[0]
                .bytes()
                .is_empty()
        );
    }
}
