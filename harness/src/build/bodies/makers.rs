//! Functions that make objects from outside, one for each type that a pointer may lead to.
//!
//! A maker allocates, fills what is no pointer from the channel, and calls the makers of what its pointers lead to, so that
//! one call gives a whole structure of objects. (*Executable Counterexamples*, section 5: there such reads give zeros.)

use std::fmt::Write as _;

use super::Writer;
use crate::build::config::MockedFunction;
use crate::external::{self, Inner, ObjectType, Pointee, Signature, VOID};
use crate::rules::Returned;

/// The function that makes pointers to a type: to one object, or to several.
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
    /// The call that makes a pointer.
    pub(super) fn make(
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

    pub(super) fn maker(&mut self, maker: &Maker) -> String {
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
            let (mut indent, mut at) = ("    ", "object");
            if most > 1 {
                let _ = writeln!(text, "    for (unsigned i = 0; i < count; i++) {{");
                let _ = writeln!(text, "        char *element = object + i * {size}ul;");
                (indent, at) = ("        ", "element");
            }
            text += &self.filled(object, at, indent, "depth - 1");
            if most > 1 {
                text += "    }\n";
            }
        }
        text + "    return object;\n}\n"
    }

    /// The statements that fill an object: its bytes from `channel`, then its pointers, each with all that it leads to.
    pub(super) fn filled(
        &mut self,
        object: &ObjectType,
        at: &str,
        indent: &str,
        depth: &str,
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
                    format!("cegar_byte(channel) & 1 ? (void *){name} : 0")
                }
            };
            let _ = writeln!(text, "{indent}*(void **)({at} + {offset}) = {value};");
        }
        text
    }

    /// A function that an object from outside points to: a mock of its own, with a channel of its own.
    pub(super) fn code(&mut self, channel: &str, signature: &Signature) -> String {
        let name = member_symbol(channel);
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
}

/// The symbol of a function that objects from outside point to, by its channel.
pub fn member_symbol(channel: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!(
        "cegar_code_{}",
        channel.chars().map(plain).collect::<String>()
    )
}
