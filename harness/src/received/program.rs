//! A C program that prints everything that it receives from the mocks.
//!
//! An object is printed where it is met first, and afterwards only by its number. The positions of
//! its pointers are computed here from its members, not from the plan that the mocks are generated
//! from.

use std::fmt::Write as _;

use super::ROUNDS;
use super::types::World;
use crate::channel::Shape;
use crate::external::codec::CallInput;
use crate::external::{Holds, ObjectType, Pointee, Signature, Types, UNKNOWN};
use crate::mocked::MockedFunction;

/// The number of elements that the program allows a function to write.
pub(super) const ELEMENTS: usize = 3;

/// The value of each byte of the memory that a function may write to, before the call.
pub(super) const BEFORE: u8 = 0x55;

const PROLOGUE: &str = r##"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef const unsigned char *bytes;
static const void *seen[1 << 16];
static int count;
static void hex(bytes p, int n) {
    static const char digits[] = "0123456789abcdef";
    static char text[1 << 16];
    int at = 0;
    for (int i = 0; i < n; i++) text[at++] = digits[p[i] >> 4], text[at++] = digits[p[i] & 15];
    text[at] = 0;
    printf("%s ", text);
}
static int first(const void *p) {
    if (!p) return printf("0 "), 0;
    for (int i = count; i-- > 0;)
        if (seen[i] == p) return printf("@%d ", i), 0;
    seen[count] = p;
    return printf("#%d ", count++), 1;
}
static void *word(bytes p) {
    void *value;
    memcpy(&value, p, sizeof value);
    return value;
}
static void show_code(void *f) {
    if (f) printf("f%d ", ((int (*)(void))f)());
    else printf("0 ");
}
"##;

/// A part of an object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    Bytes(usize, usize),
    Pointer(usize, &'a Pointee),
    Code(usize),
}

/// The parts of an object, in order.
pub(super) fn parts<'a>(types: Types<'a>, object: &'a ObjectType) -> Vec<Part<'a>> {
    fn pointers<'a>(
        types: Types<'a>,
        holds: &'a Holds,
        at: usize,
        all: &mut Vec<(usize, Part<'a>)>,
    ) {
        match holds {
            Holds::Pointer(pointee) => all.push((at, Part::Pointer(at, pointee))),
            Holds::Code(_) => all.push((at, Part::Code(at))),
            Holds::Struct(name) => {
                for member in types
                    .get(name)
                    .into_iter()
                    .flat_map(|object| &object.members)
                {
                    pointers(types, &member.holds, at + member.offset, all);
                }
            }
            Holds::Array { count, of } => {
                for i in 0..*count {
                    pointers(types, of, at + i * types.size(of), all);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for member in &object.members {
        pointers(types, &member.holds, member.offset, &mut found);
    }
    let (mut at, mut all) = (0, Vec::new());
    for (offset, part) in found {
        if offset > at {
            all.push(Part::Bytes(at, offset - at));
        }
        all.push(part);
        at = offset + 8;
    }
    if object.size > at {
        all.push(Part::Bytes(at, object.size - at));
    }
    all
}

fn shows(pointee: &Pointee, types: Types<'_>) -> String {
    let many = if pointee.many { "some" } else { "one" };
    format!("{many}_{}", types.target(pointee).name)
}

fn c_type(holds: &Holds) -> String {
    match holds {
        Holds::Int { size, signed } => {
            let sign = if *signed { "" } else { "u" };
            format!("{sign}int{}_t", 8 * size)
        }
        Holds::Bool => "_Bool".to_owned(),
        _ => "void *".to_owned(),
    }
}

/// The number of bytes that the function may write: [`ELEMENTS`] elements.
pub(super) fn row(types: Types<'_>, function: &MockedFunction) -> usize {
    let params = function
        .signature
        .iter()
        .flat_map(|signature| &signature.params);
    let size = params.map(|holds| match holds {
        Holds::Pointer(Pointee { to: Some(name), .. }) => types.get(name).map_or(1, |o| o.size),
        _ => 1,
    });
    ELEMENTS * size.take(1).sum::<usize>()
}

/// The size in bytes of the objects of a function without a signature.
pub(super) fn plain(function: &MockedFunction) -> usize {
    match function.returns {
        Shape::Pointer { size } if size > 0 => size,
        _ => UNKNOWN,
    }
}

/// The text of the program.
pub(super) fn text(world: &World, entry: &str) -> String {
    let types = Types(&world.types);
    let (mut before, mut code) = (String::new(), String::new());
    for object in types.0 {
        let name = &object.name;
        let _ = writeln!(before, "static void show_{name}(bytes p);");
        let _ = writeln!(code, "static void show_{name}(bytes p) {{");
        for part in parts(types, object) {
            let _ = match part {
                Part::Bytes(at, len) => writeln!(code, "    hex(p + {at}, {len});"),
                Part::Pointer(at, pointee) => {
                    writeln!(code, "    {}(word(p + {at}));", shows(pointee, types))
                }
                Part::Code(at) => writeln!(code, "    show_code(word(p + {at}));"),
            };
        }
        code += "}\n";
        for (sort, many) in [("one", false), ("some", true)] {
            let pointee = Pointee {
                to: Some(name.clone()),
                many,
                constant: false,
            };
            let room = types.array_layout(&pointee, object).room();
            let _ = writeln!(before, "static void {sort}_{name}(bytes p);");
            let _ = writeln!(
                code,
                "static void {sort}_{name}(bytes p) {{\n    if (!first(p)) return;\n    for (int i \
                 = 0; i < {room}; i++) show_{name}(p + i * {});\n    printf(\"] \");\n}}",
                object.size
            );
        }
    }
    let mut calls = String::new();
    for function in &world.functions {
        let _ = writeln!(calls, "        printf(\"{} \");", function.name);
        call(types, function, &mut code, &mut calls);
        calls += "        printf(\"\\n\");\n";
    }
    format!(
        "{PROLOGUE}{before}{code}int {entry}(void) {{\n    \
         for (int round = 0; round < {ROUNDS}; round++) {{\n{calls}    }}\n    return 0;\n}}\n"
    )
}

/// Adds a call of a function, and the declarations that it needs.
fn call(types: Types<'_>, function: &MockedFunction, code: &mut String, calls: &mut String) {
    let name = &function.name;
    let Some(signature) = &function.signature else {
        let _ = writeln!(code, "void *{name}(void);");
        let _ = match function.may_return_any_address {
            // A value that cannot be an object's address is printed.
            true => writeln!(
                calls,
                "        {{ void *p = {name}(); if ((uintptr_t)p >> 48) hex((bytes)&p, 8); else \
                 printf(\"%d \", p != 0); }}"
            ),
            false => writeln!(
                calls,
                "        {{ bytes p = {name}(); if (first(p)) hex(p, {}); }}",
                plain(function)
            ),
        };
        return;
    };
    match (function.asked(None), function.asked(Some(1))) {
        (Some(CallInput::Result(pointee)), _) => {
            let _ = writeln!(code, "void *{name}(void);");
            let _ = writeln!(calls, "        {}({name}());", shows(pointee, types));
        }
        (_, Some(CallInput::Object(object))) => {
            let _ = writeln!(code, "void {name}(void *);");
            into(object.size, &format!("{name}(room)"), calls);
            let _ = writeln!(calls, "        show_{}(room); }}", object.name);
        }
        (_, Some(CallInput::Elements(_))) => {
            let len = row(types, function);
            let _ = writeln!(code, "void {name}(void *, int);");
            into(len, &format!("{name}(room, {ELEMENTS})"), calls);
            let _ = writeln!(calls, "        hex(room, {len}); }}");
        }
        (_, Some(CallInput::Call(callback, _))) => {
            called(types, name, signature, callback, code, calls)
        }
        _ => {
            if matches!(signature.returns, Some(Holds::Code(_))) {
                let _ = writeln!(code, "void *{name}(void);");
                let _ = writeln!(calls, "        show_code({name}());");
            }
        }
    }
}

/// Opens a block in which a function writes into an array. The statement that follows is executed
/// if the array has changed.
fn into(len: usize, call: &str, calls: &mut String) {
    let _ = writeln!(
        calls,
        "        {{ static _Alignas(16) unsigned char room[{len} + 1], old[{len} + 1];\n        \
         memset(room, {BEFORE}, {len}); memset(old, {BEFORE}, {len}); {call};\n        \
         if (!memcmp(room, old, {len})) printf(\"left \"); else"
    );
}

/// Adds a call of a function that calls back.
fn called(
    types: Types<'_>,
    name: &str,
    signature: &Signature,
    callback: &Signature,
    code: &mut String,
    calls: &mut String,
) {
    let has_beside = signature.params.len() > 1;
    let mut params = Vec::new();
    let mut body = String::from("    printf(\"( \");\n");
    for (k, holds) in callback.params.iter().enumerate() {
        params.push(format!("{} a{k}", c_type(holds)));
        body += &match holds {
            Holds::Pointer(Pointee { to: None, .. }) if has_beside => {
                format!("    printf(\"%d \", a{k} == (void *)&count);\n")
            }
            Holds::Pointer(pointee) => format!("    {}(a{k});\n", shows(pointee, types)),
            Holds::Code(_) => format!("    show_code(a{k});\n"),
            _ => format!("    hex((bytes)&a{k}, sizeof a{k});\n"),
        };
    }
    if params.is_empty() {
        params.push("void".to_owned());
    }
    let (of, beside) = match has_beside {
        true => ("void *, void *", ", &count"),
        false => ("void *", ""),
    };
    let _ = writeln!(
        code,
        "static void on_{name}({}) {{\n{body}}}",
        params.join(", ")
    );
    let _ = writeln!(code, "void {name}({of});");
    let _ = writeln!(calls, "        {name}((void *)on_{name}{beside});");
}
