//! C bodies for undefined functions.
//!
//! A mock takes its result from its channel and ignores its arguments. With `()` as parameters the
//! body fits every caller under the calling conventions in use. Only the size and sort of the
//! result matter; the tool provides them, since it saw the exact type of the call. A function that
//! the tool has not seen (it was added since) is assumed to return an `int`, as in early C, and the
//! build prints a warning.

use std::fmt::Write as _;

use super::bodies;
use crate::channel::Shape;
use crate::external::codec::SET;
use crate::mocked::MockedFunction;

const PROLOGUE: &str = "\
typedef __SIZE_TYPE__ size_t;
void crunner_choose(const char *channel, void *into, size_t n);
void crunner_assume(int condition);
size_t crunner_object_size(const void *p);
void *crunner_mock_pointer(const char *channel, size_t pointee, int raw_allowed);
";

/// The heap functions of the native build are the runtime's.
const NATIVE: &str = "\
#define malloc crunner_malloc
#define calloc crunner_calloc
void crunner_asked(const char *channel, const unsigned long long *words, int n);
";
const HEAP: &str = "\
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *crunner_row(size_t size);
";

/// The C file with the bodies that the search, proofs and tests share.
pub(crate) fn typed_source(functions: &[MockedFunction], native: bool) -> String {
    let wanted = |f: &&MockedFunction| {
        if native {
            f.signature.is_some()
        } else {
            f.has_body()
        }
    };
    let typed: Vec<&MockedFunction> = functions.iter().filter(wanted).collect();
    if typed.is_empty() {
        return String::new();
    }
    format!(
        "{PROLOGUE}{}{HEAP}{}",
        if native { NATIVE } else { "" },
        bodies::typed(&typed, native)
    )
}

/// The C file with the bodies of the functions whose types are unknown.
pub(crate) fn bodies(functions: &[MockedFunction]) -> String {
    let mut text = PROLOGUE.to_owned();
    for function in functions
        .iter()
        .filter(|function| function.signature.is_none())
    {
        let name = &function.name;
        let channel = literal(function.channel.as_deref().unwrap_or(name));
        let value = |ty: &str| {
            format!(
                "{ty} {name}() {{\n    {ty} v;\n    crunner_choose({channel}, &v, sizeof v);\n    \
                 return v;\n}}\n"
            )
        };
        let _ = match function.returns {
            Shape::Void => writeln!(text, "void {name}() {{}}"),
            Shape::Bool => writeln!(
                text,
                "_Bool {name}() {{\n    unsigned char v;\n    crunner_choose({channel}, &v, \
                 1);\n    return v & {SET};\n}}"
            ),
            // Widened, so that a caller that expects a `long` sees the same number.
            Shape::Int {
                size: 4,
                signed: true,
            } => writeln!(
                text,
                "long long {name}() {{\n    int v;\n    crunner_choose({channel}, &v, sizeof \
                 v);\n    return v;\n}}"
            ),
            Shape::Int { size, signed } => writeln!(text, "{}", value(integer(size, signed))),
            Shape::Float { size } => writeln!(
                text,
                "{}",
                value(if size == 4 { "float" } else { "double" })
            ),
            Shape::Pointer { size } => writeln!(
                text,
                "void *{name}() {{ return crunner_mock_pointer({channel}, {size}, {}); }}",
                u8::from(function.may_return_any_address)
            ),
            Shape::Struct { size } => {
                let _ = writeln!(
                    text,
                    "struct returned_by_{name} {{ char bytes[{}]; }};",
                    size.max(1)
                );
                writeln!(text, "{}", value(&format!("struct returned_by_{name}")))
            }
            _ => writeln!(text, "{}", value("int")),
        };
    }
    text
}

pub(super) fn integer(size: usize, signed: bool) -> &'static str {
    match (size, signed) {
        (1, true) => "signed char",
        (1, false) => "unsigned char",
        (2, true) => "short",
        (2, false) => "unsigned short",
        (8, true) => "long long",
        (8, false) => "unsigned long long",
        (16, true) => "__int128",
        (16, false) => "unsigned __int128",
        (_, true) => "int",
        (_, false) => "unsigned int",
    }
}

pub(super) fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The names of undefined symbols in the output of a linker (GNU ld, gold, lld, mold).
pub(crate) fn undefined_in(linker_output: &str) -> Vec<String> {
    let mut names: Vec<String> = linker_output
        .lines()
        .filter_map(|line| {
            let (_, rest) = line
                .split_once("undefined reference to ")
                .or_else(|| line.split_once("undefined symbol: "))
                .or_else(|| line.split_once("undefined symbol "))?;
            let name: String = rest
                .trim_start_matches(['`', '\'', '"'])
                .chars()
                .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))
                .collect();
            (!name.is_empty()).then_some(name)
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mocked(name: &str, returns: Shape) -> MockedFunction {
        MockedFunction {
            may_return_any_address: true,
            ..MockedFunction::returning(name, returns)
        }
    }

    #[test]
    fn bodies_have_the_right_result() {
        let text = bodies(&[
            mocked("a", Shape::Void),
            mocked(
                "b",
                Shape::Int {
                    size: 2,
                    signed: false,
                },
            ),
            mocked("c", Shape::Pointer { size: 24 }),
            mocked("d", Shape::Struct { size: 12 }),
        ]);
        assert!(text.contains("void a() {}"));
        assert!(text.contains("unsigned short b() {"));
        assert!(text.contains("crunner_mock_pointer(\"c\", 24, 1)"));
        assert!(
            text.contains("struct returned_by_d { char bytes[12]; };\nstruct returned_by_d d() {")
        );
    }

    #[test]
    fn linkers_name_what_is_missing() {
        let gnu = "/usr/bin/ld: a.o: in function `f':\n\
            a.c:3: undefined reference to `device_open'\n\
            a.c:4: undefined reference to `device_open'\n\
            collect2: error: ld returned 1 exit status";
        assert_eq!(undefined_in(gnu), ["device_open"]);
        assert_eq!(
            undefined_in("ld.lld: error: undefined symbol: usb_get\n>>> referenced by"),
            ["usb_get"]
        );
    }
}
