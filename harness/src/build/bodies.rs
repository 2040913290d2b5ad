//! C bodies of external functions whose types are known.
//!
//! One text, compiled twice: by clang into the program that is searched and proved, and by any C compiler into the
//! executable of a test. What a mock may do is therefore the same everywhere. Gennari et al. (*Executable
//! Counterexamples*, section 4) keep a list of return values per function; a body here does what an external function can
//! do: return a value, hand out an object (fresh, or one from before), write to where its parameters point, call the functions
//! that it was given.
//!
//! There are no loops in what is generated for single objects, and recursion is bounded by a parameter that is a
//! constant at each call, so that a prover that inlines calls sees straight code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::config::MockedFunction;
use super::mocks::{integer, literal};
use crate::external::{
    self, CALLS_BACK, DEPTH, Holds, Inner, ObjectType, Pointee, Signature, Types, UNKNOWN, VOID,
};
use crate::rules::Returned;

const PROLOGUE: &str = "\
static unsigned char cegar_byte(const char *channel) {
    unsigned char byte;
    crunner_choose(channel, &byte, 1);
    return byte;
}
#define CEGAR_ROOM(p, n) (crunner_object_size(p) == 0 || crunner_object_size(p) >= (n))
";

/// The bodies of the functions that have a signature.
///
/// Natively, closures of the test may answer for them.
pub(super) fn typed(functions: &[&MockedFunction], native: bool) -> String {
    let mut table: BTreeMap<String, ObjectType> = BTreeMap::new();
    for object in functions.iter().flat_map(|function| &function.types) {
        table
            .entry(object.name.clone())
            .or_insert_with(|| object.clone());
    }
    let unknown = || ObjectType {
        name: VOID.to_owned(),
        size: UNKNOWN,
        members: Vec::new(),
        opaque: false,
    };
    table.entry(VOID.to_owned()).or_insert_with(unknown);
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

/// The function that makes pointers to a type: to one object, or to several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Maker {
    to: String,
    many: bool,
    not_null: bool,
    fresh: bool,
}

impl Maker {
    fn name(&self) -> String {
        let many = if self.many { "some" } else { "one" };
        let null = if self.not_null { "_never_null" } else { "" };
        let fresh = if self.fresh { "_fresh" } else { "" };
        format!("cegar_{many}_{}{null}{fresh}", self.to)
    }
}

struct Writer<'a> {
    types: Types<'a>,
    native: bool,
    makers: BTreeSet<Maker>,
    /// Makers that are declared and not yet written.
    open: Vec<Maker>,
    /// Structures that are passed by value.
    values: BTreeSet<String>,
    /// Declarations.
    before: String,
    /// Makers and the functions that objects point to.
    code: String,
}

impl Writer<'_> {
    /// The call that makes a pointer.
    fn make(
        &mut self,
        pointee: &Pointee,
        returned: &Returned,
        channel: &str,
        depth: &str,
    ) -> String {
        let maker = Maker {
            to: match self.types.target(pointee) {
                Some(object) => object.name.clone(),
                None => VOID.to_owned(),
            },
            many: pointee.many,
            not_null: returned.not_null,
            fresh: returned.fresh,
        };
        let call = format!("{}({channel}, {depth})", maker.name());
        if self.makers.insert(maker.clone()) {
            let name = maker.name();
            let _ = writeln!(self.before, "static void *{name}(const char *, int);");
            self.open.push(maker);
        }
        call
    }

    fn maker(&mut self, maker: &Maker) -> String {
        let Some(object) = self.types.get(&maker.to) else {
            return String::new();
        };
        let pointee = Pointee {
            to: Some(maker.to.clone()),
            many: maker.many,
            constant: false,
        };
        let plan = self.types.plan(object);
        let (most, room) = (
            external::most(&pointee, object),
            external::room(&pointee, object),
        );
        let size = object.size.max(1);
        let given = format!(
            "cegar_given_{}_{}",
            if maker.many { "some" } else { "one" },
            maker.to
        );
        let mut text = String::new();
        // Two variables and no array: a prover knows each of them.
        if !self.before.contains(&format!("*{given}_0,")) {
            let _ = writeln!(self.before, "static void *{given}_0, *{given}_1;");
        }
        let _ = writeln!(
            text,
            "static void *{}(const char *channel, int depth) {{",
            maker.name()
        );
        let _ = writeln!(text, "    unsigned char selector = cegar_byte(channel);");
        if maker.not_null {
            let _ = writeln!(text, "    crunner_assume(selector % 3 != 0);");
        }
        let _ = writeln!(text, "    if (selector % 3 == 0) return 0;");
        if maker.fresh {
            let _ = writeln!(text, "    crunner_assume(selector % 3 == 1);");
        } else {
            if maker.not_null {
                let _ = writeln!(
                    text,
                    "    if (selector % 3 == 2) crunner_assume((selector / 3 % 2 ? {given}_1 : {given}_0) != 0);"
                );
            }
            let _ = writeln!(
                text,
                "    if (selector % 3 == 2) return selector / 3 % 2 ? {given}_1 : {given}_0;"
            );
        }
        let _ = writeln!(text, "    if (depth <= 0) return 0;");
        let made = match (most > 1, object.opaque) {
            (true, _) => format!("crunner_row({})", room * size),
            (false, true) => format!("calloc(1, {size})"),
            (false, false) => format!("malloc({size})"),
        };
        let _ = writeln!(text, "    char *object = {made};");
        let _ = writeln!(text, "    if (!object) return 0;");
        let _ = writeln!(text, "    {given}_1 = {given}_0;\n    {given}_0 = object;");
        if self.types.counted(&pointee, object) {
            let _ = writeln!(text, "    unsigned count = 1 + selector / 3 % {most};");
        }
        // One row of bytes at once; elements that hold pointers one after the other.
        let whole = plan.pointers.is_empty() && plan.chosen == [(0, size)];
        if whole && most > 1 {
            let _ = writeln!(
                text,
                "    crunner_choose(channel, object, {});",
                most * size
            );
        } else {
            let (mut indent, mut at) = ("    ", "object".to_owned());
            if most > 1 {
                let _ = writeln!(text, "    for (unsigned i = 0; i < count; i++) {{");
                let _ = writeln!(text, "        char *element = object + i * {size}ul;");
                (indent, at) = ("        ", "element".to_owned());
            }
            for (offset, length) in &plan.chosen {
                let _ = writeln!(
                    text,
                    "{indent}crunner_choose(channel, {at} + {offset}, {length});"
                );
            }
            for (offset, inner) in &plan.pointers {
                let value = match inner {
                    Inner::Data(pointee) => {
                        self.make(pointee, &Returned::default(), "channel", "depth - 1")
                    }
                    Inner::Code(signature) => {
                        let path = self.types.path(object, *offset);
                        let name = self.code(&format!("{}.{path}", object.name), signature);
                        format!("cegar_byte(channel) & 1 ? (void *){name} : 0")
                    }
                };
                let _ = writeln!(text, "{indent}*(void **)({at} + {offset}) = {value};");
            }
            if most > 1 {
                text += "    }\n";
            }
        }
        text + "    return object;\n}\n"
    }

    /// A function that an object from outside points to: a mock of its own, with a channel of its own.
    fn code(&mut self, channel: &str, signature: &Signature) -> String {
        let plain: String = channel
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let name = format!("cegar_code_{plain}");
        if !self.before.contains(&format!(" {name}(")) {
            let head = self.head(&name, signature);
            let _ = writeln!(self.before, "static {head};");
            let mut function = MockedFunction::returning(&name, crate::channel::Shape::Void);
            function.channel = Some(channel.to_owned());
            // Objects that it returns would make the description recursive: it returns none.
            let body = self.body(&function, signature, &Returned::default());
            let _ = write!(self.code, "static {head} {{\n{body}}}\n");
        }
        name
    }

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
        if function.rules.writes != Some(false) {
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
        let _ = match holds {
            Holds::Pointer(_) if function.raw_allowed => {
                writeln!(text, "    return crunner_mock_pointer({channel}, 0, 1);")
            }
            Holds::Pointer(pointee) => {
                let made = self.make(pointee, returned, &channel, &DEPTH.to_string());
                writeln!(text, "    return {made};")
            }
            Holds::Code(callee) => {
                let name = self.code(&format!("{}.result", function.channel()), callee);
                writeln!(
                    text,
                    "    return cegar_byte({channel}) & 1 ? (void *){name} : 0;"
                )
            }
            Holds::Bool => writeln!(text, "    return cegar_byte({channel}) & 1;"),
            _ => {
                let assumed = assume(&returned.ranges);
                writeln!(
                    text,
                    "    {c_type} v;\n    crunner_choose({channel}, &v, sizeof v);\n{assumed}    return v;"
                )
            }
        };
        text
    }

    /// The parameter is an address that the function may write to.
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
        if let Some(limit) = signature.buffer(i) {
            let _ = writeln!(
                text,
                "    if ({p} && p{limit} && (cegar_byte({channel}) & 1))\n        \
                 crunner_choose({channel}, {p}, p{limit} < {most} ? p{limit} : {most});",
                limit = limit + 1,
                most = external::CHARACTERS,
            );
            return text;
        }
        let Some(object) = self.types.written(holds) else {
            return text;
        };
        let plan = self.types.plan(object);
        let _ = write!(
            text,
            "    if ({p} && CEGAR_ROOM({p}, {}) && (cegar_byte({channel}) & 1)) ",
            object.size
        );
        let _ = match plan.pointers.first() {
            Some((_, Inner::Data(pointee))) => {
                let made = self.make(pointee, &Returned::default(), &channel, &DEPTH.to_string());
                writeln!(text, "*(void **){p} = {made};")
            }
            Some((_, Inner::Code(callee))) => {
                let name = self.code(&format!("{}.{}", function.channel(), i + 1), callee);
                writeln!(text, "*(void **){p} = (void *){name};")
            }
            None => writeln!(text, "crunner_choose({channel}, {p}, {});", object.size),
        };
        text
    }

    /// The parameter is a function that may be called.
    fn call_back(
        &mut self,
        function: &MockedFunction,
        signature: &Signature,
        i: usize,
        callback: &Signature,
    ) -> String {
        let by_value = |holds: &Holds| matches!(holds, Holds::Struct(_) | Holds::Bytes(_));
        if callback.params.iter().any(by_value) || callback.varargs {
            return String::new();
        }
        let channel = literal(&format!("{}:{}", function.channel(), i + 1));
        // What stands beside the function is handed to it: `void *context`.
        let context = signature
            .params
            .iter()
            .position(|holds| matches!(holds, Holds::Pointer(Pointee { to: None, .. })));
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
            let _ = writeln!(text, "    if ({asked}(cegar_byte({channel}) & 1)) {{");
            let mut values = Vec::new();
            for (k, holds) in callback.params.iter().enumerate() {
                match (holds, context) {
                    (Holds::Pointer(Pointee { to: None, .. }), Some(at)) => {
                        values.push(format!("(void *)p{}", at + 1));
                    }
                    (Holds::Pointer(pointee), _) => {
                        let made =
                            self.make(pointee, &Returned::default(), &channel, &DEPTH.to_string());
                        let _ = writeln!(text, "        void *a{k} = {made};");
                        values.push(format!("a{k}"));
                    }
                    (Holds::Code(_), _) => values.push("0".to_owned()),
                    (Holds::Bool, _) => {
                        let _ = writeln!(text, "        _Bool a{k} = cegar_byte({channel}) & 1;");
                        values.push(format!("a{k}"));
                    }
                    _ => {
                        let _ = writeln!(
                            text,
                            "        {} a{k};\n        crunner_choose({channel}, &a{k}, sizeof a{k});",
                            types[k]
                        );
                        values.push(format!("a{k}"));
                    }
                }
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

    fn c_type(&mut self, holds: &Holds) -> String {
        match holds {
            Holds::Int { size, signed } => integer(*size, *signed).to_owned(),
            Holds::Bool => "_Bool".to_owned(),
            Holds::Float { size: 4 } => "float".to_owned(),
            Holds::Float { .. } => "double".to_owned(),
            Holds::Struct(name) => {
                self.by_value(name);
                format!("struct cegar_value_{name}")
            }
            _ => "void *".to_owned(),
        }
    }

    /// Defines a structure that is passed by value.
    fn by_value(&mut self, name: &str) {
        let Some(object) = self.types.get(name) else {
            return;
        };
        if !self.values.insert(name.to_owned()) {
            return;
        }
        let mut text = format!("struct cegar_value_{name} {{\n");
        for (i, member) in object.members.iter().enumerate() {
            let (mut holds, mut dimensions) = (&member.holds, String::new());
            while let Holds::Array { count, of } = holds {
                let _ = write!(dimensions, "[{count}]");
                holds = of;
            }
            let c_type = self.c_type(holds);
            let _ = writeln!(text, "    {c_type} m{i}{dimensions};");
        }
        self.before += &(text + "};\n");
    }
}

/// Asks the test, with the parameters as numbers.
fn asked(channel: &str, signature: &Signature) -> String {
    let words: Vec<String> = signature
        .params
        .iter()
        .enumerate()
        .map(|(i, holds)| match holds {
            Holds::Struct(_) | Holds::Bytes(_) => "0".to_owned(),
            Holds::Float { .. } => format!("(unsigned long long)(long long)p{}", i + 1),
            _ => format!("(unsigned long long)p{}", i + 1),
        })
        .collect();
    format!(
        "    {{\n        unsigned long long words[] = {{{}}};\n        crunner_asked({channel}, words, {});\n    }}\n",
        if words.is_empty() {
            "0".to_owned()
        } else {
            words.join(", ")
        },
        words.len()
    )
}

/// The number is in one of these ranges.
fn assume(ranges: &[(i128, i128)]) -> String {
    if ranges.is_empty() {
        return String::new();
    }
    let one = |(low, high): &(i128, i128)| {
        if low == high {
            format!("v == {}", number(*low))
        } else {
            format!("(v >= {} && v <= {})", number(*low), number(*high))
        }
    };
    let all: Vec<String> = ranges.iter().map(one).collect();
    format!("    crunner_assume({});\n", all.join(" || "))
}

fn number(value: i128) -> String {
    if value > i128::from(i64::MAX) {
        format!("{value}ull")
    } else if i32::try_from(value).is_ok() {
        value.to_string()
    } else {
        format!("{value}ll")
    }
}
