//! Specialises calls of `printf` and `scanf` to formats that are known before the program runs.
//!
//! `printf` and `scanf` interpret their format in one loop over its characters, so that everything
//! that a conversion does happens in one of many iterations. If a conversion has a loop of its own,
//! over the digits of the input or the characters of a string, the facts of a proof have to include
//! the position in the format, which mostly fails. But nearly every format is a literal. So a call
//! with such a format gets a function of its own, in which the parts of the format are a sequence
//! of calls of the functions by which the interpreter implements them (`engine_format.c`,
//! `scan.c`). This is the interpreter specialised to its first argument (Futamura, *Partial
//! evaluation of computation process*, 1971), by hand, because the result is a mere sequence.
//!
//! For native code, the call stays as it is. Metadata at the call names the function that the
//! engine calls instead, with the same arguments, none of them variable. A format that is not
//! supported here (a width from an argument, `%n` in `printf`, wide characters, arguments whose
//! types are not those that the format requires) is left to the interpreter.

mod parse;
mod scan;
mod write;

use std::collections::HashMap;

use cegar_llvm::{Module, Place, Type, Value};

use super::link;
use crate::program::convention::INSTEAD;

use parse::Printed;
use write::Writer;

/// The functions that produce a text (`engine_format.c`).
const TEXTS: &[&str] = &[
    "engine_format_character",
    "engine_format_double",
    "engine_format_end",
    "engine_format_fits",
    "engine_format_integer",
    "engine_format_pointer",
    "engine_format_precision",
    "engine_format_room",
    "engine_format_string",
    "engine_format_text",
];
/// The functions that write a line (`stdio_out.c`).
const LINES: &[&str] = &["crunner_line_out", "crunner_line_room"];
/// The functions that read input (`scan.c`).
const SCANS: &[&str] = &[
    "crunner_scan_blank",
    "crunner_scan_character",
    "crunner_scan_count",
    "crunner_scan_integer",
    "crunner_scan_real",
    "crunner_scan_text",
];
/// The function that gives the length of a string that is scanned.
const LENGTH: &[&str] = &["strlen"];
const STDIN: &str = "CRUNNER_stdin";
const STDOUT: &str = "CRUNNER_stdout";

/// All functions and variables of the library that the specialised functions use.
pub(super) fn needed() -> Vec<&'static str> {
    [TEXTS, LINES, SCANS, LENGTH, &[STDIN, STDOUT]].concat()
}

/// How a function uses its format. Numbers are indices of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    /// Writes to a stream: to the parameter `out`, or to `stdout` if there is none.
    Print { out: Option<u32> },
    /// Writes to memory: `room` is its size, and `checked` the size that `_FORTIFY_SOURCE` knows.
    Store {
        room: Option<u32>,
        checked: Option<u32>,
    },
    /// Reads from a stream: from the parameter `from`, or from `stdin` if there is none.
    Scan { from: Option<u32> },
    /// Reads from a string.
    ScanText,
}

/// The functions, their families, and the index of the parameter that is the format.
const FUNCTIONS: [(&str, Family, u32); 17] = {
    const fn store(room: Option<u32>, checked: Option<u32>) -> Family {
        Family::Store { room, checked }
    }
    [
        ("CRUNNER_printf", Family::Print { out: None }, 0),
        ("CRUNNER_fprintf", Family::Print { out: Some(0) }, 1),
        ("CRUNNER___printf_chk", Family::Print { out: None }, 1),
        ("CRUNNER___fprintf_chk", Family::Print { out: Some(0) }, 2),
        ("sprintf", store(None, None), 1),
        ("snprintf", store(Some(1), None), 2),
        ("__sprintf_chk", store(None, Some(2)), 3),
        ("__snprintf_chk", store(Some(1), Some(3)), 4),
        ("CRUNNER_scanf", Family::Scan { from: None }, 0),
        ("CRUNNER_fscanf", Family::Scan { from: Some(0) }, 1),
        ("CRUNNER___isoc99_scanf", Family::Scan { from: None }, 0),
        ("CRUNNER___isoc99_fscanf", Family::Scan { from: Some(0) }, 1),
        ("CRUNNER___isoc23_scanf", Family::Scan { from: None }, 0),
        ("CRUNNER___isoc23_fscanf", Family::Scan { from: Some(0) }, 1),
        ("sscanf", Family::ScanText, 1),
        ("__isoc99_sscanf", Family::ScanText, 1),
        ("__isoc23_sscanf", Family::ScanText, 1),
    ]
};

/// A function, a format, and the types of all arguments.
type Key<'m> = (&'static str, Vec<u8>, Vec<Type<'m>>);

/// Gives each of the user's calls with a literal format a function of its own. Returns the names of
/// these functions.
pub(super) fn take_apart(module: &Module) -> Vec<String> {
    let mut writer = Writer::new(module);
    let mut known: HashMap<Key<'_>, Option<String>> = HashMap::new();
    let mut names = Vec::new();
    for (name, family, format) in FUNCTIONS {
        let Some(function) = module.function(name) else {
            continue;
        };
        let users = function.users().into_iter();
        let calls = users.filter(|user| user.is_call() && user.callee() == function);
        for call in calls.filter(|call| link::is_users(call.parent_function())) {
            let arguments = call.arguments();
            let Some(text) = arguments.get(format as usize).copied().and_then(literal) else {
                continue;
            };
            let types: Vec<Type<'_>> = arguments.iter().map(|argument| argument.ty()).collect();
            let is_plain = (0..arguments.len() as u32)
                .all(|i| !call.has_attribute(Place::Parameter(i), "byval"));
            let written = known
                .entry((name, text.clone(), types.clone()))
                .or_insert_with(|| {
                    let name = is_plain.then(|| format!("{name}.{}", names.len() + 1))?;
                    let of = (&*name, family, format);
                    write(&mut writer, of, &text, &types)?;
                    names.push(name.clone());
                    Some(name)
                });
            if let Some(written) = written {
                call.set_metadata_text(INSTEAD, written);
            }
        }
    }
    names
}

/// Writes the function for a format and arguments of these types. `None` if a part of the format is
/// not supported.
fn write<'m>(
    writer: &mut Writer<'m>,
    (name, family, format): (&str, Family, u32),
    text: &[u8],
    types: &[Type<'m>],
) -> Option<()> {
    let first = format as usize + 1;
    match family {
        Family::Print { .. } | Family::Store { .. } => {
            let parts = parse::printed(text)?;
            let wanted = parts.iter().flat_map(Printed::wants);
            let fits = fits(writer, wanted, types.get(first..)?);
            fits.then(|| writer.print((name, types, first), family, &parts))?
        }
        Family::Scan { .. } | Family::ScanText => {
            let parts = parse::scanned(text)?;
            let pointers = parts.iter().filter(|part| part.stores()).count();
            let given = types.get(first..)?;
            let fits =
                given.len() >= pointers && given[..pointers].iter().all(|ty| ty.is_pointer());
            fits.then(|| writer.scan((name, types, first), family, &parts))?
        }
    }
}

/// Whether the arguments have the types that a format requires; there may be more arguments.
fn fits<'m>(
    writer: &Writer<'m>,
    wanted: impl Iterator<Item = parse::Argument>,
    types: &[Type<'m>],
) -> bool {
    let mut given = types.iter();
    wanted
        .into_iter()
        .all(|wanted| given.next().is_some_and(|ty| writer.ty(wanted) == *ty))
}

/// The characters of a constant string before its NUL.
fn literal(pointer: Value<'_>) -> Option<Vec<u8>> {
    let data = pointer.initializer();
    let data = data.filter(|_| pointer.is_global_constant())?;
    // LLVM represents the empty string as a zero initializer.
    if data.is_null() {
        return Some(Vec::new());
    }
    let bytes = data.bytes()?;
    let end = bytes.iter().position(|&byte| byte == 0)?;
    Some(bytes[..end].to_vec())
}
