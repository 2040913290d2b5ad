//! Functions that make objects from outside, one for each type that a pointer may lead to.
//!
//! A maker allocates an object, fills everything except pointers from the channel, and calls the
//! makers of the types that its pointers lead to, so that one call makes a whole structure of
//! objects. (*Executable Counterexamples*, section 5, lets such reads return zeros.)

use std::fmt::{Display, Write as _};

use super::Writer;
use crate::build::config::MockedFunction;
use crate::external::codec::{EARLIER, FRESH, NULL, REMEMBERED, SET, SORTS};
use crate::external::{Inner, ObjectType, Pointee, Signature};
use crate::rules::Returned;

/// The function that makes pointers to one object, or to several objects, of a type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Maker {
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

impl Writer<'_> {
    /// The call that makes a pointer. Declares the maker if it is new.
    pub(super) fn make(
        &mut self,
        pointee: &Pointee,
        returned: &Returned,
        channel: &str,
        depth: impl Display,
    ) -> String {
        let maker = Maker {
            to: self.types.target(pointee).name.clone(),
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

    pub(super) fn maker(&mut self, maker: &Maker) -> String {
        let Some(object) = self.types.get(&maker.to) else {
            return String::new();
        };
        let pointee = Pointee {
            to: Some(maker.to.clone()),
            many: maker.many,
            constant: false,
        };
        let row = self.types.array_layout(&pointee, object);
        let size = object.size.max(1);
        let given = format!(
            "cegar_given_{}_{}",
            if maker.many { "some" } else { "one" },
            maker.to
        );
        let mut text = String::new();
        // Two variables instead of an array, since a prover tracks each of them separately.
        if !self.before.contains(&format!("*{given}_0,")) {
            let _ = writeln!(self.before, "static void *{given}_0, *{given}_1;");
        }
        let _ = writeln!(
            text,
            "static void *{}(const char *channel, int depth) {{",
            maker.name()
        );
        let (sort, further) = (format!("selector % {SORTS}"), format!("selector / {SORTS}"));
        let earlier = format!("{further} % {REMEMBERED} ? {given}_1 : {given}_0");
        let _ = writeln!(text, "    unsigned char selector = cegar_byte(channel);");
        if maker.not_null {
            let _ = writeln!(text, "    crunner_assume({sort} != {NULL});");
        }
        let _ = writeln!(text, "    if ({sort} == {NULL}) return 0;");
        if maker.fresh {
            let _ = writeln!(text, "    crunner_assume({sort} == {FRESH});");
        } else {
            if maker.not_null {
                let _ = writeln!(
                    text,
                    "    if ({sort} == {EARLIER}) crunner_assume(({earlier}) != 0);"
                );
            }
            let _ = writeln!(text, "    if ({sort} == {EARLIER}) return {earlier};");
        }
        let _ = writeln!(text, "    if (depth <= 0) return 0;");
        let made = match (row.most > 1, object.opaque) {
            (true, _) => format!("crunner_row({})", row.room() * size),
            (false, true) => format!("calloc(1, {size})"),
            (false, false) => format!("malloc({size})"),
        };
        let _ = writeln!(text, "    char *object = {made};");
        let _ = writeln!(text, "    if (!object) return 0;");
        let _ = writeln!(text, "    {given}_1 = {given}_0;\n    {given}_0 = object;");
        let next = "depth - 1";
        match row.at_once {
            Some(0) => {}
            Some(len) => {
                let _ = writeln!(text, "    crunner_choose(channel, object, {len});");
            }
            None if row.is_counted => {
                let filled = self.filled(object, "element", "        ", next);
                let _ = write!(
                    text,
                    "    unsigned count = 1 + {further} % {};\n    \
                     for (unsigned i = 0; i < count; i++) {{\n        \
                     char *element = object + i * {size}ul;\n{filled}    }}\n",
                    row.most
                );
            }
            None => text += &self.filled(object, "object", "    ", next),
        }
        text + "    return object;\n}\n"
    }

    /// The statements that fill an object: first its bytes from `channel`, then its pointers, each
    /// with everything that it leads to.
    pub(super) fn filled(
        &mut self,
        object: &ObjectType,
        at: &str,
        indent: &str,
        depth: impl Display + Copy,
    ) -> String {
        let plan = self.types.plan(object);
        let mut text = String::new();
        for (offset, length) in &plan.chosen {
            let _ = writeln!(
                text,
                "{indent}crunner_choose(channel, {at} + {offset}, {length});"
            );
        }
        for (offset, inner) in &plan.pointers {
            let value = match inner {
                Inner::Data(pointee) => self.make(pointee, &Returned::default(), "channel", depth),
                Inner::Code(signature) => {
                    let path = self.types.path(object, *offset);
                    let name = self.code(&format!("{}.{path}", object.name), signature);
                    format!("cegar_byte(channel) & {SET} ? (void *){name} : 0")
                }
            };
            let _ = writeln!(text, "{indent}*(void **)({at} + {offset}) = {value};");
        }
        for (offset, length) in &plan.null {
            let _ = writeln!(
                text,
                "{indent}__builtin_memset({at} + {offset}, 0, {length});"
            );
        }
        text
    }

    /// A function that an object from outside points to. It is a separate mock with its own
    /// channel.
    pub(super) fn code(&mut self, channel: &str, signature: &Signature) -> String {
        let name = member_symbol(channel);
        if !self.before.contains(&format!(" {name}(")) {
            let head = self.head(&name, signature);
            let _ = writeln!(self.before, "static {head};");
            let mut function = MockedFunction::returning(&name, crate::channel::Shape::Void);
            function.channel = Some(channel.to_owned());
            // It returns no objects, since these would make the description recursive.
            let body = self.body(&function, signature, &Returned::default());
            let _ = write!(self.code, "static {head} {{\n{body}}}\n");
        }
        name
    }
}

/// The symbol of a function that objects from outside point to, derived from its channel.
pub fn member_symbol(channel: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!(
        "cegar_code_{}",
        channel.chars().map(plain).collect::<String>()
    )
}
