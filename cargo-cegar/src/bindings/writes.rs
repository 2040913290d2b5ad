//! Finds the parameters through which a function certainly writes.
//!
//! A Rust `*const T` for a C `T *` is wrong only if the C code writes; many libraries merely
//! omitted a `const`. So a mismatch is reported only if there is a write: a store whose address is
//! the parameter's value or an offset from it, in this function or in one that it passes the
//! pointer to. Uncertain cases (a pointer that may also be another one) are not writes.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::externals::debug_info::DebugInfo;

/// The place of a write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Write {
    /// The function that contains the store.
    pub function: String,
    pub line: u32,
}

/// Functions of the C library that write through their first parameter.
const WRITERS: &[&str] = &[
    "memcpy", "memmove", "memset", "strcpy", "strncpy", "strcat", "sprintf", "snprintf",
];

/// A function of the textual IR.
struct Body<'t> {
    name: &'t str,
    params: Vec<&'t str>,
    lines: Vec<&'t str>,
}

/// Adds the writes of the functions of a module. Calls are followed only within the module.
pub(super) fn find(text: &str, info: &DebugInfo, into: &mut HashMap<(String, usize), Write>) {
    let bodies = bodies(text);
    let mut found: HashMap<(&str, usize), Write> = HashMap::new();
    loop {
        let before = found.len();
        for body in &bodies {
            for (i, param) in body.params.iter().enumerate() {
                if !found.contains_key(&(body.name, i))
                    && let Some(write) = written(body, param, info, &found)
                {
                    found.insert((body.name, i), write);
                }
            }
        }
        if found.len() == before {
            break;
        }
    }
    for ((name, i), write) in found {
        into.entry((name.to_owned(), i)).or_insert(write);
    }
}

fn bodies(text: &str) -> Vec<Body<'_>> {
    let mut all: Vec<Body<'_>> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("define ") {
            let Some((name, after)) = rest.split_once('@').and_then(|(_, r)| r.split_once('('))
            else {
                continue;
            };
            let params = arguments(after).into_iter().filter_map(|argument| {
                let value = argument.rsplit(' ').next()?;
                value.starts_with('%').then_some(value)
            });
            all.push(Body {
                name: name.trim_matches('"'),
                params: params.collect(),
                lines: Vec::new(),
            });
            inside = true;
        } else if line == "}" {
            inside = false;
        } else if inside && let Some(body) = all.last_mut() {
            body.lines.push(line.trim());
        }
    }
    all
}

/// The arguments up to the closing parenthesis.
fn arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut all) = (0, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' if depth == 0 => {
                all.push(text[start..i].trim());
                break;
            }
            ')' | '}' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                all.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    all
}

/// The write through a parameter, if there certainly is one.
fn written(
    body: &Body<'_>,
    param: &str,
    info: &DebugInfo,
    known: &HashMap<(&str, usize), Write>,
) -> Option<Write> {
    let mut derived: HashSet<&str> = HashSet::from([param]);
    let mut slots: HashSet<&str> = HashSet::new();
    loop {
        let before = (derived.len(), slots.len());
        for line in &body.lines {
            if let Some((value, slot)) = stored(line)
                && derived.contains(value)
                && is_slot(body, slot, &derived)
            {
                slots.insert(slot);
            }
            let Some((result, operation)) = line.split_once(" = ") else {
                continue;
            };
            let from = if let Some(rest) = operation.strip_prefix("load ptr, ptr ") {
                let slot = rest.split(',').next().unwrap_or_default();
                slots.contains(slot)
            } else if operation.starts_with("getelementptr ") {
                let base = operation.split(", ptr ").nth(1).unwrap_or_default();
                derived.contains(base.split(',').next().unwrap_or_default())
            } else {
                false
            };
            if from {
                derived.insert(result);
            }
        }
        if (derived.len(), slots.len()) == before {
            break;
        }
    }
    let here = |line: &str| Write {
        function: body.name.to_owned(),
        line: place(line, info),
    };
    for line in &body.lines {
        if let Some((_, address)) = stored(line)
            && derived.contains(address)
        {
            return Some(here(line));
        }
        let Some((name, rest)) = line
            .split_once("call ")
            .and_then(|(_, call)| call.split_once('@'))
            .and_then(|(_, call)| call.split_once('('))
        else {
            continue;
        };
        for (i, argument) in arguments(rest).into_iter().enumerate() {
            let value = argument.rsplit(' ').next().unwrap_or_default();
            if !derived.contains(value) {
                continue;
            }
            let is_writer = name.starts_with("llvm.mem") || WRITERS.contains(&name);
            if i == 0 && is_writer {
                return Some(here(line));
            }
            if let Some(write) = known.get(&(name, i)) {
                return Some(write.clone());
            }
        }
    }
    None
}

/// The value and the address of `store TYPE VALUE, ptr ADDRESS, ...`.
fn stored(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("store ")?;
    let (value, address) = rest.split_once(", ptr ")?;
    let value = value.rsplit(' ').next()?;
    Some((value, address.split(',').next()?))
}

/// Whether an address is a local variable that only ever holds pointers derived from the parameter.
fn is_slot(body: &Body<'_>, slot: &str, derived: &HashSet<&str>) -> bool {
    let start = format!("{slot} = alloca ptr");
    let is_variable = body.lines.iter().any(|line| line.starts_with(&start));
    let mut stores = body.lines.iter().filter_map(|line| stored(line));
    is_variable
        && stores
            .all(|(value, at)| at != slot || derived.contains(value) || steps(body, value, slot))
}

/// Whether a value is the variable's own value, possibly advanced: `p++`.
fn steps(body: &Body<'_>, value: &str, slot: &str) -> bool {
    let defined = |name: &str| {
        let start = format!("{name} = ");
        body.lines
            .iter()
            .find_map(|line| line.strip_prefix(&*start))
    };
    let Some(operation) = defined(value) else {
        return false;
    };
    if let Some(rest) = operation.strip_prefix("load ptr, ptr ") {
        return rest.split(',').next() == Some(slot);
    }
    let base = operation
        .starts_with("getelementptr ")
        .then(|| operation.split(", ptr ").nth(1)?.split(',').next())
        .flatten();
    base.is_some_and(|base| base != value && steps(body, base, slot))
}

fn place(line: &str, info: &DebugInfo) -> u32 {
    let number = line.rsplit_once("!dbg !").map(|(_, number)| number);
    let digits = number.map(|n| {
        n.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
    });
    let node = digits.and_then(|digits| info.node(digits.parse().ok()?));
    node.map_or(0, |node| node.number("line") as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_shown_before_it_is_said() {
        let text = "\
define dso_local void @fill(ptr noundef %out, ptr noundef %in, ptr noundef %odd) #0 {
entry:
  %out.addr = alloca ptr, align 8
  %in.addr = alloca ptr, align 8
  %odd.addr = alloca ptr, align 8
  store ptr %out, ptr %out.addr, align 8
  store ptr %in, ptr %in.addr, align 8
  store ptr %odd, ptr %odd.addr, align 8
  %0 = load ptr, ptr %in.addr, align 8
  %1 = load i32, ptr %0, align 4
  %2 = load ptr, ptr %out.addr, align 8
  %incdec.ptr = getelementptr inbounds i32, ptr %2, i32 1
  store ptr %incdec.ptr, ptr %out.addr, align 8
  store i32 %1, ptr %2, align 4
  store ptr @buffer, ptr %odd.addr, align 8
  %3 = load ptr, ptr %odd.addr, align 8
  store i32 %1, ptr %3, align 4
  ret void
}
define dso_local void @outer(i32 noundef %n, ptr noundef %p) #0 {
entry:
  call void @fill(ptr noundef %p, ptr noundef null, ptr noundef null)
  ret void
}
";
        let mut found = HashMap::new();
        find(text, &DebugInfo::read(text), &mut found);
        let mut all: Vec<(String, usize)> = found.into_keys().collect();
        all.sort();
        assert_eq!(all, [("fill".to_owned(), 0), ("outer".to_owned(), 1)]);
    }
}
