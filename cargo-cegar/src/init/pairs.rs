//! Determines which parameter holds the length of the memory that another parameter points to.
//!
//! C does not declare this, but names and positions indicate it: `data, len`, `src, dst, srcSize,
//! dstCapacity`, `dest, &destLen`. Each pair of a pointer and a number gets a score for what they
//! have in common, and pairs are formed by descending score.

mod shared;

use super::api::{Api, Parameter};
use super::ctype::Kind;

pub use shared::{Shared, shared};

/// Words in the names of lengths.
const LENGTHS: &[&str] = &[
    "len", "size", "sz", "count", "cnt", "num", "bytes", "capacity", "cap", "avail", "max",
    "limit", "room", "space",
];
/// Short names that mean a length.
const SHORT: &[&str] = &["n", "nb", "l", "ln", "nn", "cb"];
/// Words in the names of outputs.
const OUTPUTS: &[&str] = &["dst", "dest", "out", "result", "target"];
/// Words in the names of inputs.
const INPUTS: &[&str] = &[
    "src", "source", "in", "input", "data", "msg", "text", "str", "json", "xml",
];
/// The minimum score of a pair.
const ENOUGH: i32 = 7;

/// For each parameter, the index of the one that holds its length.
pub fn lengths(api: &Api, params: &[Parameter]) -> Vec<Option<usize>> {
    let mut scored = Vec::new();
    for (p, pointer) in params.iter().enumerate() {
        for (l, length) in params.iter().enumerate() {
            if p != l
                && let Some(score) = score(api, params, (p, pointer), (l, length))
            {
                scored.push((score, p, l));
            }
        }
    }
    scored.sort_by_key(|&(score, p, l)| (-score, p, l));
    let mut lengths = vec![None; params.len()];
    let mut taken = vec![false; params.len()];
    for (score, p, l) in scored {
        if score >= ENOUGH && lengths[p].is_none() && !taken[l] && !taken[p] {
            lengths[p] = Some(l);
            taken[l] = true;
        }
    }
    remaining(api, params, &mut lengths, &mut taken);
    lengths
}

/// Whether a parameter is the end of the memory that begins at the one before it: `begin, end`.
/// Both must be pointers to the same numeric or byte type.
pub fn is_end(api: &Api, begin: &Parameter, end: &Parameter) -> bool {
    let (Some(from), Some(to)) = (api.pointee(&begin.ty), api.pointee(&end.ty)) else {
        return false;
    };
    let kind = api.resolve(&from).kind;
    let is_plain = matches!(kind, Kind::Void | Kind::Int { .. } | Kind::Float { .. });
    let name = plain(&end.name);
    let is_named = ["end", "last", "limit", "stop"]
        .iter()
        .any(|word| name.ends_with(word));
    is_plain && is_named && kind == api.resolve(&to).kind && from.constant == to.constant
}

/// An array of elements of any type, as `qsort` takes it: the indices of the pointer, the number of
/// elements and the size of an element.
pub fn elements(api: &Api, params: &[Parameter]) -> Option<(usize, usize, usize)> {
    let is_row = |p: &usize| {
        let to = api.pointee(&params[*p].ty);
        to.is_some_and(|to| api.resolve(&to).kind == Kind::Void)
    };
    let is_number = |i: usize| {
        let kind = params.get(i).map(|param| api.resolve(&param.ty).kind);
        matches!(kind, Some(Kind::Int { size, .. }) if size >= 4)
    };
    let is_count = |i: usize| {
        let name = plain(&params[i].name);
        let counts = ["count", "num", "nmemb", "nel", "nitem", "member", "elem"];
        name == "n" || counts.iter().any(|word| name.contains(word))
    };
    let is_size = |i: usize| {
        let name = plain(&params[i].name);
        ["size", "width", "sz"]
            .iter()
            .any(|word| name.ends_with(word))
            && !is_unit_name(&name)
    };
    let both = |a: usize, b: usize| (is_count(a) && is_size(b) && !is_size(a)).then_some((a, b));
    (0..params.len()).filter(is_row).find_map(|p| {
        let (a, b) = (p + 1, p + 2);
        let are_numbers = is_number(a) && is_number(b);
        let found = are_numbers.then(|| both(a, b).or_else(|| both(b, a)))?;
        found.map(|(count, size)| (p, count, size))
    })
}

/// The unit of a length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Elements.
    Elements,
    /// Bytes, whatever the element type is: `nbytes`, `size_in_bytes`.
    Bytes,
    /// Bits: `nbits`, `bit_count`.
    Bits,
}

/// The unit of a length, derived from its name.
pub fn unit(name: &str) -> Unit {
    let name = plain(name);
    let bits = [
        "nbits",
        "numbits",
        "bits",
        "bitcount",
        "bitlen",
        "bitlength",
        "bitsize",
        "lenbits",
        "sizebits",
        "lengthbits",
    ];
    match () {
        () if name.contains("byte") => Unit::Bytes,
        () if bits.contains(&name.as_str()) => Unit::Bits,
        () => Unit::Elements,
    }
}

/// Whether a parameter's name says that it is an output.
pub fn is_output_name(name: &str) -> bool {
    let lower = plain(name);
    // `res` is short for result, but also a part of `compressed`, so it must be a whole word.
    let is_res = |part: &str| part.eq_ignore_ascii_case("res");
    OUTPUTS.iter().any(|word| lower.contains(word))
        || name.split('_').any(is_res)
        || name.starts_with("res") && name[3..].starts_with(char::is_uppercase)
}

/// Whether a modifiable string parameter has the name of a message buffer.
pub fn is_message_name(name: &str) -> bool {
    let lower = plain(name);
    lower.contains("err") || ["buf", "buffer", "message"].contains(&lower.as_str())
}

fn is_input_name(name: &str) -> bool {
    let name = plain(name);
    INPUTS.iter().any(|word| name.starts_with(word))
}

const CHAR: Kind = Kind::Int {
    size: 1,
    signed: true,
};

/// Words for distances, which are not lengths.
const STEPS: &[&str] = &["stride", "pitch", "step", "align", "alignment"];
/// Words for numbers that give the size of a unit, not the length of a buffer.
const UNITS: &[&str] = &["blocksize", "typesize", "chunksize", "pagesize", "wordsize"];
/// Words for numbers of workers or of repetitions.
const WORKERS: &[&str] = &["thread", "worker", "iteration", "round"];

fn is_unit_name(name: &str) -> bool {
    let lower = plain(name);
    UNITS.iter().any(|word| lower.contains(word))
}

fn is_worker_name(name: &str) -> bool {
    let lower = plain(name);
    WORKERS.iter().any(|word| lower.contains(word))
}

/// Words for strings such as names and paths.
const TEXTS: &[&str] = &["name", "path", "file", "mode", "url"];

/// Whether a parameter is a name or a path. It ends with its NUL, even next to a number:
/// `create(const char *fname, size_t buffer_size)`.
fn is_text_name(name: &str) -> bool {
    let name = plain(name);
    TEXTS.iter().any(|word| name.ends_with(word))
}

/// Words for a position in a buffer.
const PLACES: &[&str] = &[
    "offset", "off", "pos", "position", "start", "end", "begin", "index", "idx", "last_len",
    "from", "to",
];

/// Whether a parameter has the name of a position in a buffer: `pos`, `in_pos`, `startPos`, but not
/// `suppos`.
pub fn is_place_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    PLACES.iter().any(|word| {
        lower.strip_suffix(word).is_some_and(|before| {
            let first = name[before.len()..].chars().next();
            before.is_empty() || before.ends_with('_') || first.is_some_and(char::is_uppercase)
        })
    })
}

fn is_length_name(name: &str) -> bool {
    let name = plain(name);
    SHORT.contains(&name.as_str()) || LENGTHS.iter().any(|word| name.contains(word))
}

/// Whether the name of an option means that input ends with a NUL: `NULLTERM`, `ZERO_TERMINATED`.
pub fn is_terminated_name(name: &str) -> bool {
    let lower = plain(name);
    let ends = ["nulterm", "nullterm", "zeroterm"];
    ends.iter().any(|word| lower.contains(word))
}

/// Whether a parameter's name denotes a count: `count`, `nargs`, `argc`.
pub fn is_count_name(name: &str) -> bool {
    let lower = plain(name);
    let many = lower.starts_with('n') && lower.ends_with('s') && lower.len() > 2;
    is_length_name(name) || many || lower == "argc"
}

/// Whether a number has the name of a capacity or a size that an object is created with.
pub fn is_room_name(name: &str) -> bool {
    let words = [
        "cap", "slots", "max", "width", "height", "rows", "cols", "depth", "limit", "reserve",
        "bytes", "entries",
    ];
    let lower = plain(name);
    is_count_name(name) || words.iter().any(|word| lower.contains(word))
}

/// The maximum value of a number whose name says that the time or the memory that a call takes
/// grows with it. The time grows exponentially with a plain `cost`, and linearly with the others.
pub fn most_cost(name: &str) -> Option<u64> {
    let lower = name.to_lowercase();
    let words = [
        "cost",
        "rounds",
        "iter",
        "iterations",
        "lanes",
        "threads",
        "passes",
    ];
    let is_word = |word: &&str| lower == *word || lower.ends_with(&format!("_{word}"));
    match lower.as_str() {
        "cost" | "log_n" | "logn" => Some(10),
        _ => words.iter().any(is_word).then_some(64),
    }
}

/// Whether a parameter's name is a plural and it points to a structure that the header defines:
/// `items`, `points`.
fn is_many(api: &Api, pointer: &Parameter) -> bool {
    let name = plain(&pointer.name);
    let to = api.pointee(&pointer.ty).map(|to| api.resolve(&to).kind);
    let is_known = matches!(to, Some(Kind::Record(tag)) if api.record(&tag).is_some());
    is_known
        && name.len() > 3
        && name.ends_with('s')
        && !name.ends_with("ss")
        && ![
            "this", "args", "params", "opts", "options", "settings", "status", "bits", "flags",
        ]
        .iter()
        .any(|word| name.ends_with(word))
}

/// Whether a number has the name of a count of structures, rather than of a size.
fn is_count_of_many(name: &str) -> bool {
    let counts = ["count", "cnt", "num", "len", "max", "cap", "limit", "room"];
    name == "n" || name == "nb" || counts.iter().any(|word| name.contains(word))
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', "")
}

/// Whether a number counts something other than the characters of the string next to it. Characters
/// are rarely counted unless the string is the input: `query(tag, count)` asks for the count-th
/// match.
fn is_counted_string(
    (constant, kind): (bool, &Kind),
    pointer: &Parameter,
    length: &Parameter,
) -> bool {
    let counts = ["count", "cnt", "num", "limit"];
    let is_counted = counts.iter().any(|word| plain(&length.name).contains(word));
    constant && *kind == CHAR && !is_input_name(&pointer.name) && is_counted
}

/// The size and the sign of a number that may be a length, or that a pointer to a length leads to.
/// A narrow number must directly follow its pointer (`is_next`).
fn number(api: &Api, length: &Parameter, is_next: bool) -> Option<(u8, bool)> {
    match api.resolve(&length.ty).kind {
        Kind::Int { size, signed } => {
            let may_be = size >= 4 || is_next && is_length_name(&length.name);
            may_be.then_some((size, signed))
        }
        Kind::Pointer(to) if !to.constant => match api.resolve(&to).kind {
            Kind::Int { size, signed } if size >= 4 && is_length_name(&length.name) => {
                Some((size, signed))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The score for the distance of a number behind a pointer.
fn of_distance(distance: i32, is_copy: bool) -> i32 {
    match distance {
        1 => 4,
        2 if is_copy => 6,
        -1 | 2 => 1,
        _ => 0,
    }
}

/// Whether a number is the room for a copy of the string before it: `copy(char *to, const char
/// *from, size_t size)`.
fn is_room_of_copy(api: &Api, params: &[Parameter], l: usize) -> bool {
    let rooms = [
        "size", "sz", "siz", "dsize", "room", "cap", "capacity", "bufsize", "maxlen",
    ];
    let chars = |i: usize| {
        let to = api.pointee(&params.get(i)?.ty)?;
        (api.resolve(&to).kind == CHAR).then_some(to.constant)
    };
    l >= 2
        && rooms.contains(&plain(&params[l].name).as_str())
        && chars(l - 2) == Some(false)
        && chars(l - 1) == Some(true)
        && !is_input_name(&params[l].name)
}

fn score(
    api: &Api,
    params: &[Parameter],
    (p, pointer): (usize, &Parameter),
    (l, length): (usize, &Parameter),
) -> Option<i32> {
    // An array with a declared length needs no parameter for it, and memory behind an opaque
    // typedef need not be bytes.
    if pointer.bound.is_some()
        || api.hidden(&pointer.ty).is_some()
        || api.text_object(&pointer.ty).is_some()
    {
        return None;
    }
    let to = api.pointee(&pointer.ty)?;
    let target = api.resolve(&to);
    let by_name_only = match &target.kind {
        Kind::Void | Kind::Int { .. } | Kind::Float { .. } | Kind::Enum(_) => false,
        Kind::Record(_) | Kind::Pointer(_) => true,
        _ => return None,
    };
    let (size, signed) = number(api, length, l == p + 1)?;
    // As in strlcpy, the number after the source string is the size of the destination.
    let is_copy = is_room_of_copy(api, params, l);
    if is_copy && l == p + 1 {
        return None;
    }
    let is_counted_string = is_counted_string((to.constant, &target.kind), pointer, length);
    let by_value = api.pointee(&length.ty).is_none();
    let (a, b) = (plain(&pointer.name), plain(&length.name));
    let stem = a.trim_start_matches('p');
    let stem = if stem.len() < 2 { a.as_str() } else { stem };
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    // `out, out_n`: the pointer's name followed by a word for a length. `iv, niv`: the name
    // preceded by `n`.
    let short = !a.is_empty() && b.strip_prefix(&a).is_some_and(is_length_name)
        || a.len() >= 2
            && b.strip_prefix('n') == Some(&a)
            && !matches!(target.kind, Kind::Pointer(_))
        // `nva, nvlen`: an array of the items that the number counts.
        || a.len() >= 3
            && matches!(target.kind, Kind::Record(_))
            && a.strip_suffix('a').and_then(|one| b.strip_prefix(one)).is_some_and(is_length_name);
    if to.constant && target.kind == CHAR && is_text_name(&pointer.name) && !short {
        return None;
    }
    let is_length = is_length_name(&length.name) || short;
    // `data, block_size` may be a block; `compressor, block_size` is not.
    let is_own = stem.len() >= 2 && b.contains(stem);
    let is_next = is_input_name(&pointer.name) && l == p + 1;
    if is_unit_name(&length.name) && !is_own && !is_next {
        return None;
    }
    if (is_worker_name(&length.name) || is_counted_string) && !is_own {
        return None;
    }
    // A `size_t` of any name after an input counts as a length, but neither a position in a file
    // nor a stride does.
    let is_step = STEPS.iter().any(|word| b.ends_with(word));
    let by_type = size == 8 && !signed && by_value && !is_place_name(&length.name) && !is_step;
    if !is_length && !(by_type && (length.name.is_empty() || to.constant)) {
        return None;
    }
    let mut score = 3;
    if is_length && (stem.len() >= 2 && b.contains(stem) || short) {
        score += 10;
    } else if is_length && common >= 3 {
        score += 8;
    } else if is_output_name(&pointer.name) && is_output_or_most(&length.name)
        || is_input_name(&pointer.name) && is_input_name(&length.name)
    {
        score += 5;
        // In `targetOutputSize, maxOutputSize` the second one is the available room.
        score += i32::from(is_output_name(&pointer.name) && is_most(&length.name)) * 2;
    } else if by_name_only && is_many(api, pointer) && l == p + 1 && is_count_of_many(&b) {
        score += 1;
    } else if by_name_only && by_type && l == p + 1 && a.is_empty() && b.is_empty() {
        // `crc(const struct buffer *, size_t)`: structures to be read, and their number.
        if !to.constant || matches!(target.kind, Kind::Pointer(_)) {
            return None;
        }
    } else if by_name_only || !by_value && to.constant {
        return None;
    }
    // A modifiable pointer to more than a byte is usually a single result: `size_t *out_pos`.
    if matches!(target.kind, Kind::Int { size, .. } if size > 1) && !to.constant {
        if !by_value || is_place_name(&pointer.name) {
            return None;
        }
        // As in `memset`, the value to be written stands between them.
        let is_fill = l == p + 2 && api.resolve(&params[p + 1].ty).kind == target.kind;
        if l != p + 1 && !is_fill {
            score -= 5;
        }
        score += i32::from(is_fill) * 3;
    }
    Some(score + of_distance(l as i32 - p as i32, is_copy))
}

/// Pairs the last unpaired input with the last unpaired length if there is one of each: `src, dst,
/// compressedSize, dstCapacity`.
fn remaining(api: &Api, params: &[Parameter], lengths: &mut [Option<usize>], taken: &mut [bool]) {
    let free =
        |i: usize, lengths: &[Option<usize>], taken: &[bool]| lengths[i].is_none() && !taken[i];
    let inputs: Vec<usize> = (0..params.len())
        .filter(|&i| free(i, lengths, taken))
        .filter(|&i| params[i].bound.is_none() && api.hidden(&params[i].ty).is_none())
        .filter(|&i| {
            api.pointee(&params[i].ty).is_some_and(|to| {
                let kind = api.resolve(&to).kind;
                to.constant
                    && (matches!(
                        kind,
                        Kind::Void
                            | Kind::Int {
                                size: 1,
                                signed: false
                            }
                    ) || matches!(kind, Kind::Int { size: 1, .. })
                        && is_input_name(&params[i].name))
            })
        })
        .collect();
    // The size of an output is not the length of an input.
    let is_of_output = |name: &str| OUTPUTS.iter().any(|word| plain(name).contains(word));
    let numbers: Vec<usize> = (0..params.len())
        .filter(|&i| free(i, lengths, taken) && is_length_name(&params[i].name))
        .filter(|&i| !is_of_output(&params[i].name))
        .filter(|&i| !is_unit_name(&params[i].name) && !is_worker_name(&params[i].name))
        .filter(|&i| matches!(api.resolve(&params[i].ty).kind, Kind::Int { size, .. } if size >= 4))
        .collect();
    if let ([input], [number]) = (&inputs[..], &numbers[..]) {
        lengths[*input] = Some(*number);
        taken[*number] = true;
    }
}

fn is_output_or_most(name: &str) -> bool {
    is_output_name(name) || is_most(name)
}

/// Whether a number has the name of an available room.
pub fn is_most(name: &str) -> bool {
    let lower = plain(name);
    ["max", "cap", "avail"]
        .iter()
        .any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests;
