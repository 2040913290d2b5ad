//! Converts the bytes of a channel to calls of `Mock`.
//!
//! The table that encodes choices ([`cegar_harness::channel`]) also determines what the bytes mean.
//! Unknown channels, and bytes that cannot be parsed, are written as raw bytes, which replay just
//! as well.

use cegar_harness::build::MockedFunction;
use cegar_harness::channel::{self, Shape};
use cegar_harness::external::UNKNOWN;
use cegar_harness::external::codec::{Selector, is_set};

use super::literal;
use super::{Finding, faults, typed};

/// More trailing zero values than this are left out, because an empty queue yields zeros anyway.
const ZEROS: usize = 4;

/// The method calls for all channels of a finding, without leading dots.
pub(super) fn calls(finding: &Finding) -> Vec<String> {
    let queues = finding.queues();
    let mut calls = Vec::new();
    let arguments: Vec<String> = (1..)
        .map_while(|i| queues.iter().find(|(name, _)| *name == format!("argv:{i}")))
        .map(|(_, events)| literal::bytes(&channel::decode_string(&events.concat()).0))
        .collect();
    for (name, events) in &queues {
        if *name == "argc" {
            if !arguments.is_empty() {
                // Byte strings of different lengths have different types.
                let list: Vec<String> = arguments
                    .iter()
                    .map(|text| format!("&{text}[..]"))
                    .collect();
                calls.push(format!("args([{}])", list.join(", ")));
            }
        } else if !name.starts_with("argv:") {
            calls.extend(of_channel(finding, name, events));
        }
    }
    calls
}

fn of_channel(finding: &Finding, name: &str, events: &[&[u8]]) -> Vec<String> {
    if let Some(calls) = typed::calls(&finding.mocked, name, events) {
        return calls;
    }
    let bytes = events.concat();
    if let Some((_, method)) = MARKED.iter().find(|(channel, _)| *channel == name) {
        return marked(method, &bytes);
    }
    let raw = || vec![format!("choices({name:?}, {})", literal::bytes(&bytes))];
    let known = finding
        .mocked
        .iter()
        .find(|mock| mock.channel.as_deref().unwrap_or(&mock.name) == name);
    let member = || {
        let members = finding.mocked.iter().flat_map(MockedFunction::members);
        members.into_iter().find(|member| member.name == name)
    };
    let shape = known
        .map(|mock| mock.returns)
        .or_else(|| member().map(|member| member.returns))
        .or_else(|| Shape::of_stub(name));
    let after = |prefix: &str| name.strip_prefix(prefix).unwrap_or(name).to_owned();
    match shape {
        Some(Shape::Stream) if name == "stdin" => {
            faults::stream("stdin", |text| format!("stdin({text})"), &bytes)
        }
        Some(Shape::Raw) if name == "data" => vec![format!("data({})", literal::bytes(&bytes))],
        Some(Shape::OptionalString) => match bytes.split_first() {
            Some((present, text)) if is_set(*present) => {
                vec![format!(
                    "env({:?}, {})",
                    after("env:"),
                    literal::bytes(&channel::decode_string(text).0)
                )]
            }
            _ => vec![format!("no_env({:?})", after("env:"))],
        },
        Some(Shape::File) => match bytes.split_first() {
            Some((present, text)) if is_set(*present) => {
                let file = after("file:");
                faults::stream(&file, |text| format!("file({file:?}, {text})"), text)
            }
            _ => vec![format!("no_file({:?})", after("file:"))],
        },
        Some(Shape::Bool) => {
            numbers(name, &bytes, 1, "", |value| is_set(value[0]).to_string()).unwrap_or_else(raw)
        }
        Some(Shape::Int { size, signed }) if matches!(size, 1 | 2 | 4 | 8) => {
            integers(name, &bytes, size, signed).unwrap_or_else(raw)
        }
        Some(Shape::Float { size: 4 }) => numbers(name, &bytes, 4, "", single).unwrap_or_else(raw),
        Some(Shape::Float { size: 8 }) => numbers(name, &bytes, 8, "", double).unwrap_or_else(raw),
        Some(Shape::Pointer { size }) => {
            let size = if size == 0 { UNKNOWN } else { size };
            pointers(
                name,
                events,
                size,
                known.is_some_and(|mock| mock.may_return_any_address),
            )
            .unwrap_or_else(raw)
        }
        // Zeros mean the ordinary outcome, so no call is needed.
        None if known.is_none() && bytes.iter().all(|byte| *byte == 0) => Vec::new(),
        None if known.is_none() && channel::REFUSING.contains(&name) => {
            faults::refusals(name, events).unwrap_or_else(raw)
        }
        _ => raw(),
    }
}

/// Channels of Booleans that are usually false, each with the method that marks a true one.
const MARKED: [(&str, &str); 2] = [
    ("malloc", "malloc_fails"),
    ("malloc:large", "large_malloc_succeeds"),
];

fn marked(method: &str, bytes: &[u8]) -> Vec<String> {
    let all = (1..).zip(bytes).filter(|(_, byte)| is_set(**byte));
    all.map(|(number, _)| format!("{method}({number})"))
        .collect()
}

/// A call with values of equal size; `None` if there are no bytes or their number is not a multiple
/// of the size.
fn numbers(
    name: &str,
    bytes: &[u8],
    size: usize,
    suffix: &str,
    show: impl Fn(&[u8]) -> String,
) -> Option<Vec<String>> {
    if bytes.is_empty() || !bytes.len().is_multiple_of(size) {
        return None;
    }
    let mut row: Vec<&[u8]> = bytes.chunks_exact(size).collect();
    let used = row
        .iter()
        .rposition(|value| value.iter().any(|byte| *byte != 0))
        .map_or(1, |last| last + 1);
    if row.len() > used + ZEROS {
        row.truncate(used);
    }
    let row: Vec<String> = row.into_iter().map(show).collect();
    Some(vec![format!(
        "returns({name:?}, {})",
        literal::values(&row, suffix)
    )])
}

fn integers(name: &str, bytes: &[u8], size: usize, signed: bool) -> Option<Vec<String>> {
    let number = |value: &[u8]| {
        let fill = if signed && value.last().is_some_and(|byte| byte & 0x80 != 0) {
            0xFF
        } else {
            0
        };
        let mut wide = [fill; 16];
        wide[..size].copy_from_slice(value);
        i128::from_le_bytes(wide)
    };
    // Rust infers `i32` for a plain number. If a number does not fit, the type is written.
    let bare = bytes
        .chunks_exact(size)
        .map(number)
        .all(|value| i32::try_from(value).is_ok());
    let suffix = if bare {
        String::new()
    } else {
        format!("{}{}", if signed { "i" } else { "u" }, 8 * size)
    };
    numbers(name, bytes, size, &suffix, |value| {
        number(value).to_string()
    })
}

fn single(value: &[u8]) -> String {
    let bits = value
        .iter()
        .rev()
        .fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
    let number = f32::from_bits(bits);
    if number.is_finite() {
        format!("{number:?}f32")
    } else {
        format!("f32::from_bits({bits:#x})")
    }
}

fn double(value: &[u8]) -> String {
    let bits = value
        .iter()
        .rev()
        .fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    let number = f64::from_bits(bits);
    if number.is_finite() {
        format!("{number:?}")
    } else {
        format!("f64::from_bits({bits:#x})")
    }
}

/// The calls for returned pointers. Each choice is an event of its own, so that a fresh object can
/// be distinguished from an earlier one.
fn pointers(
    name: &str,
    events: &[&[u8]],
    size: usize,
    may_return_any_address: bool,
) -> Option<Vec<String>> {
    let mut calls = Vec::new();
    let mut events = events.iter().peekable();
    while let Some(event) = events.next() {
        let [selector] = event else { return None };
        match Selector::of(*selector) {
            Selector::Null => calls.push(format!("returns_null({name:?})")),
            Selector::Earlier(_) if may_return_any_address => {
                let address = u64::from_le_bytes(events.next()?.get(..8)?.try_into().ok()?);
                calls.push(format!("returns_address({name:?}, {address:#x})"));
            }
            Selector::Earlier(back)
                if size == 1 || events.peek().is_none_or(|next| next.len() != size) =>
            {
                calls.push(format!("returns_earlier({name:?}, {back})"));
            }
            _ => {
                let object = events.next_if(|next| next.len() == size)?;
                calls.push(format!(
                    "returns_bytes({name:?}, {})",
                    literal::bytes(object)
                ));
            }
        }
    }
    Some(calls)
}
