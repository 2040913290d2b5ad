//! The C text of values: types, structures that are passed by value, numbers in ranges, parameters
//! as words.

use std::fmt::Write as _;

use super::Writer;
use crate::build::mocks::integer;
use crate::external::{Holds, Signature};

impl Writer<'_> {
    pub(super) fn c_type(&mut self, holds: &Holds) -> String {
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

/// The statements that ask the test for an answer and pass the parameters as numbers.
pub(super) fn asked(channel: &str, signature: &Signature) -> String {
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
        "    {{\n        unsigned long long words[] = {{{}}};\n        crunner_asked({channel}, \
         words, {});\n    }}\n",
        if words.is_empty() {
            "0".to_owned()
        } else {
            words.join(", ")
        },
        words.len()
    )
}

/// Assumes that the number is in one of these ranges.
pub(super) fn assume(ranges: &[(i128, i128)]) -> String {
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
