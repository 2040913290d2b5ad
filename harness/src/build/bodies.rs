//! C bodies of external functions whose types are known.
//!
//! The same text is compiled twice: by clang into the program that is searched and proved, and by
//! any C compiler into the executable of a test. A mock therefore has the same possible behaviours
//! everywhere. Gennari et al. (*Executable Counterexamples*, section 4) keep a list of return
//! values per function. A body here does what an external function can do: it returns a value,
//! hands out an object (a fresh one or an earlier one), writes to where its parameters point, and
//! calls the functions that it was given.
//!
//! The code for a single object has no loops, and recursion is bounded by a parameter that is a
//! constant at each call, so that a prover that inlines calls sees straight-line code.

mod makers;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use self::makers::Maker;
pub use self::makers::member_symbol;
use self::values::{asked, assume};

use super::config::MockedFunction;
use super::mocks::literal;
use crate::external::codec::{CALLS_BACK, CHARACTERS, DEPTH, Handed, SET};
use crate::external::{Holds, ObjectType, Pointee, Signature, Types, VOID};
use crate::rules::{Count, Extent, Inside, Returned};

const PROLOGUE: &str = "\
static unsigned char cegar_byte(const char *channel) {
    unsigned char byte;
    crunner_choose(channel, &byte, 1);
    return byte;
}
static void *cegar_inside(void *text, size_t offset) {
    for (size_t i = 0; i < offset; i++) crunner_assume(((char *)text)[i] != 0);
    return (char *)text + offset;
}
#define CEGAR_ROOM(p, n) (crunner_object_size(p) == 0 || crunner_object_size(p) >= (n))
";

/// The bodies of the functions that have a signature.
///
/// With `native`, closures of the test may answer the calls.
pub(super) fn typed(functions: &[&MockedFunction], native: bool) -> String {
    let mut table: BTreeMap<String, ObjectType> = BTreeMap::new();
    for object in functions.iter().flat_map(|function| &function.types) {
        table
            .entry(object.name.clone())
            .or_insert_with(|| object.clone());
    }
    table
        .entry(VOID.to_owned())
        .or_insert_with(ObjectType::unknown);
    let all: Vec<ObjectType> = table.into_values().collect();
    let mut writer = Writer {
        types: Types(&all),
        native,
        makers: BTreeSet::new(),
        open: Vec::new(),
        values: BTreeSet::new(),
        before: String::new(),
        code: String::new(),
    };
    let mut text = String::new();
    for function in functions {
        if let Some(signature) = &function.signature {
            text += &writer.function(function, signature);
        }
    }
    while let Some(maker) = writer.open.pop() {
        let made = writer.maker(&maker);
        writer.code += &made;
    }
    format!("{PROLOGUE}{}{}{text}", writer.before, writer.code)
}

struct Writer<'a> {
    types: Types<'a>,
    native: bool,
    makers: BTreeSet<Maker>,
    /// Makers that are declared but not yet written.
    open: Vec<Maker>,
    /// Structures that are passed by value and are already defined.
    values: BTreeSet<String>,
    /// Declarations, which come first.
    before: String,
    /// The makers, and the functions that objects point to.
    code: String,
}

impl Writer<'_> {
    fn head(&mut self, name: &str, signature: &Signature) -> String {
        let result = self.result(signature);
        let mut params: Vec<String> = Vec::new();
        for (i, holds) in signature.params.iter().enumerate() {
            params.push(format!("{} p{}", self.c_type(holds), i + 1));
        }
        if signature.varargs && !params.is_empty() {
            params.push("...".to_owned());
        } else if params.is_empty() {
            params.push("void".to_owned());
        }
        format!("{result} {name}({})", params.join(", "))
    }

    fn result(&mut self, signature: &Signature) -> String {
        match &signature.returns {
            None => "void".to_owned(),
            Some(holds) => self.c_type(holds),
        }
    }

    fn function(&mut self, function: &MockedFunction, signature: &Signature) -> String {
        let returned = function.rules.returned().unwrap_or_default();
        let head = self.head(&function.name, signature);
        let body = self.body(function, signature, &returned);
        format!("{head} {{\n{body}}}\n")
    }

    fn body(
        &mut self,
        function: &MockedFunction,
        signature: &Signature,
        returned: &Returned,
    ) -> String {
        let mut text = String::new();
        let channel = literal(function.channel());
        if self.native {
            text += &asked(&channel, signature);
        }
        if let Ok(Some(extents)) = function.rules.written() {
            for extent in extents {
                text += &self.write_exactly(function, signature, extent);
            }
        } else if !function.rules.writes_nothing() {
            for (i, holds) in signature.params.iter().enumerate() {
                text += &self.write(function, signature, i, holds);
            }
        }
        if function.rules.calls_back != Some(false) {
            for (i, holds) in signature.params.iter().enumerate() {
                if let Holds::Code(callback) = holds {
                    text += &self.call_back(function, signature, i, callback);
                }
            }
        }
        let Some(holds) = &signature.returns else {
            return text;
        };
        let c_type = self.c_type(holds);
        if let (Some(inside), Holds::Pointer(_)) = (returned.inside, holds) {
            return text + &self.result_inside(signature, inside, returned.not_null, &channel);
        }
        if let Some(pointee) = &function.address {
            let made = self.make(pointee, returned, &channel, DEPTH);
            let _ = writeln!(text, "    return ({c_type})(__UINTPTR_TYPE__){made};");
            return text;
        }
        let _ = match holds {
            Holds::Pointer(_) if function.may_return_any_address => {
                writeln!(text, "    return crunner_mock_pointer({channel}, 0, 1);")
            }
            Holds::Pointer(pointee) => {
                let made = self.make(pointee, returned, &channel, DEPTH);
                writeln!(text, "    return {made};")
            }
            Holds::Code(callee) => {
                let name = self.code(&format!("{}.result", function.channel()), callee);
                writeln!(
                    text,
                    "    return cegar_byte({channel}) & {SET} ? (void *){name} : 0;"
                )
            }
            Holds::Bool => writeln!(text, "    return cegar_byte({channel}) & {SET};"),
            _ => {
                let assumed = assume(&returned.ranges);
                writeln!(
                    text,
                    "    {c_type} v;\n    crunner_choose({channel}, &v, sizeof v);\n\
                     {assumed}    return v;"
                )
            }
        };
        text
    }

    /// The result points into the memory that a parameter points to: a byte of the channel says
    /// whether the result is not NULL, and a number selects the element.
    fn result_inside(
        &self,
        signature: &Signature,
        inside: Inside,
        not_null: bool,
        channel: &str,
    ) -> String {
        let p = format!("p{}", inside.param() + 1);
        let mut text = String::new();
        let _ = match not_null {
            true => writeln!(text, "    (void)cegar_byte({channel});"),
            false => writeln!(text, "    if (!(cegar_byte({channel}) & {SET})) return 0;"),
        };
        let _ = writeln!(
            text,
            "    size_t offset;\n    crunner_choose({channel}, &offset, sizeof offset);\n    \
             crunner_assume({p} != 0);"
        );
        let _ = match inside {
            Inside::Text(_) => writeln!(text, "    return cegar_inside({p}, offset);"),
            Inside::Extent(extent) => {
                let (asked, count) = count(extent.count);
                let element = self.element(signature, extent);
                writeln!(
                    text,
                    "    crunner_assume({asked}offset < {count});\n    return (char *){p} + offset \
                     * {element};"
                )
            }
        };
        text
    }

    /// The size in bytes of the unit that the extent counts: an element behind the parameter, or 1
    /// for bytes.
    fn element(&self, signature: &Signature, extent: Extent) -> usize {
        match signature.params.get(extent.param) {
            Some(holds) if !extent.bytes => self.pointed_size(holds),
            _ => 1,
        }
    }

    /// The size in bytes of one element behind a pointer; 1 if its type is unknown.
    fn pointed_size(&self, holds: &Holds) -> usize {
        match holds {
            Holds::Pointer(Pointee { to: Some(name), .. }) => {
                self.types.get(name).map_or(1, |object| object.size)
            }
            _ => 1,
        }
    }

    /// Lets the function write exactly these elements or bytes.
    fn write_exactly(
        &mut self,
        function: &MockedFunction,
        signature: &Signature,
        extent: Extent,
    ) -> String {
        let Some(Holds::Pointer(_)) = signature.params.get(extent.param) else {
            return String::new();
        };
        let element = self.element(signature, extent);
        let p = format!("p{}", extent.param + 1);
        let (asked, count) = count(extent.count);
        let channel = literal(&format!("{}:{}", function.channel(), extent.param + 1));
        format!(
            "    if ({p} && {asked}(cegar_byte({channel}) & {SET}))\n        \
             crunner_choose({channel}, (void *){p}, {count} * {element});\n"
        )
    }

    /// Lets the function write where the parameter points, if it is an address that may be written
    /// to.
    fn write(
        &mut self,
        function: &MockedFunction,
        signature: &Signature,
        i: usize,
        holds: &Holds,
    ) -> String {
        let mut text = String::new();
        let channel = literal(&format!("{}:{}", function.channel(), i + 1));
        let p = format!("p{}", i + 1);
        if let Some(limit) = signature.count_of(i) {
            let element = self.pointed_size(holds);
            let _ = writeln!(
                text,
                "    if ({p} && p{limit} > 0 && (cegar_byte({channel}) & {SET}))\n        \
                 crunner_choose({channel}, {p}, (size_t)(p{limit} < {most} ? p{limit} : {most}) * \
                 {element});",
                limit = limit + 1,
                most = CHARACTERS,
            );
            return text;
        }
        let Some(object) = self.types.written(holds, function.is_output(i)) else {
            return text;
        };
        let filled = self.filled(object, "at", "        ", DEPTH);
        let _ = writeln!(
            text,
            "    if ({p} && CEGAR_ROOM({p}, {}) && (cegar_byte({channel}) & {SET})) {{\n        \
             const char *channel = {channel};\n        char *at = (char *){p};\n{filled}    }}",
            object.size
        );
        text
    }

    /// Lets the function call the parameter, which is a function.
    fn call_back(
        &mut self,
        function: &MockedFunction,
        signature: &Signature,
        i: usize,
        callback: &Signature,
    ) -> String {
        if callback.params.iter().any(Holds::is_aggregate) || callback.varargs {
            return String::new();
        }
        let channel = literal(&format!("{}:{}", function.channel(), i + 1));
        let types: Vec<String> = callback
            .params
            .iter()
            .map(|holds| self.c_type(holds))
            .collect();
        let result = self.result(callback);
        let mut text = String::new();
        for round in 0..CALLS_BACK {
            let asked = if round == 0 {
                format!("p{} && ", i + 1)
            } else {
                String::new()
            };
            let _ = writeln!(text, "    if ({asked}(cegar_byte({channel}) & {SET})) {{");
            let mut values = Vec::new();
            for (k, handed) in signature.handed(callback).enumerate() {
                let c_type = &types[k];
                let _ = match handed {
                    Handed::Beside(at) => {
                        values.push(format!("(void *)p{}", at + 1));
                        continue;
                    }
                    Handed::Null => {
                        values.push("0".to_owned());
                        continue;
                    }
                    Handed::Object(pointee) => {
                        let made = self.make(pointee, &Returned::default(), &channel, DEPTH);
                        writeln!(text, "        void *a{k} = {made};")
                    }
                    Handed::Value(Holds::Bool) => {
                        writeln!(text, "        _Bool a{k} = cegar_byte({channel}) & {SET};")
                    }
                    Handed::Value(_) => writeln!(
                        text,
                        "        {c_type} a{k};\n        crunner_choose({channel}, &a{k}, sizeof \
                         a{k});"
                    ),
                };
                values.push(format!("a{k}"));
            }
            let list = if types.is_empty() {
                "void".to_owned()
            } else {
                types.join(", ")
            };
            let _ = writeln!(
                text,
                "        (({result} (*)({list}))p{})({});",
                i + 1,
                values.join(", ")
            );
        }
        text + &"    }\n".repeat(CALLS_BACK)
    }
}

/// The condition that a number of elements has to meet, and the number, both in C.
fn count(count: Count) -> (String, String) {
    match count {
        Count::Fixed(count) => (String::new(), format!("(size_t){count}")),
        Count::Param(i) => (format!("p{} > 0 && ", i + 1), format!("(size_t)p{}", i + 1)),
    }
}
