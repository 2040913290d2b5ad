//! What the bytes of a tape mean, for those who make them simple.
//!
//! A tape is shortened as bytes; a test shows numbers, names and structures. The types by which the
//! choices are written down ([`super::typed`]) say which bytes make up one number, and which are
//! characters.

use cegar_harness::build::{MockedFunction, has_body};
use cegar_harness::channel::Shape;
use cegar_harness::external::{DEPTH, Holds, Inner, ObjectType, Pointee, Signature, Types, most};
use cegar_model::machine::Choice;
use cegar_search::simulate::minimise::{Sort, Span};

/// The numbers and the text among the choices of a run.
pub fn spans(mocked: &[MockedFunction], tape: &[u8], choices: &[Choice]) -> Vec<Span> {
    let members: Vec<MockedFunction> = mocked.iter().flat_map(MockedFunction::members).collect();
    let mut channels: Vec<(&str, Vec<&Choice>)> = Vec::new();
    for choice in choices {
        match channels
            .iter_mut()
            .find(|(name, _)| *name == &*choice.channel)
        {
            Some((_, all)) => all.push(choice),
            None => channels.push((&choice.channel, vec![choice])),
        }
    }
    let mut found = Vec::new();
    for (channel, choices) in channels {
        let (name, parameter) = match channel.rsplit_once(':') {
            Some((name, number)) => (name, number.parse::<usize>().ok()),
            None => (channel, None),
        };
        let known = || mocked.iter().chain(&members);
        let function = known().find(|function| function.channel() == name);
        match function {
            Some(function) if parameter.is_some() || channel == name => {
                let mut walk = Walk {
                    types: Types(&function.types),
                    tape,
                    choices: choices.iter(),
                    found: &mut found,
                };
                // A value that does not fit its type is left alone.
                let _ = match parameter {
                    None => walk.results(function, &choices),
                    Some(number) => walk.parameter(function, number),
                };
            }
            // As few bytes as the range needs.
            _ if channel == "range" => {
                let size = choices.first().map_or(0, |choice| choice.len);
                let signed = false;
                plain(Some(Shape::Int { size, signed }), &choices, &mut found);
            }
            _ => plain(Shape::of_stub(channel), &choices, &mut found),
        }
    }
    found
}

/// Choices of one value each.
fn plain(shape: Option<Shape>, choices: &[&Choice], found: &mut Vec<Span>) {
    if let Some(Shape::Int { size, signed }) = shape {
        for choice in choices.iter().filter(|choice| choice.len == size) {
            found.push(Span {
                at: choice.at..choice.at + size,
                sort: Sort::Number { signed },
            });
        }
    }
}

/// The choices of one channel, in the order in which a mock's body makes them.
struct Walk<'a, 'c> {
    types: Types<'a>,
    tape: &'a [u8],
    choices: std::slice::Iter<'c, &'c Choice>,
    found: &'c mut Vec<Span>,
}

impl Walk<'_, '_> {
    /// The next choice, if it is of so many bytes.
    fn next(&mut self, len: usize) -> Option<usize> {
        self.choices
            .next()
            .filter(|choice| choice.len == len)
            .map(|choice| choice.at)
    }

    fn byte(&mut self) -> Option<u8> {
        let at = self.next(1)?;
        Some(self.tape.get(at).copied().unwrap_or(0))
    }

    fn results(&mut self, function: &MockedFunction, choices: &[&Choice]) -> Option<()> {
        match function.result() {
            _ if function.returns_into() => {
                let unsigned = Shape::Int {
                    size: 8,
                    signed: false,
                };
                plain(Some(unsigned), choices, self.found);
            }
            Some(Holds::Pointer(pointee)) if !function.raw_allowed && has_body(function) => loop {
                self.pointer(&pointee, DEPTH)?;
            },
            Some(Holds::Struct(name)) => {
                let object = self.types.get(&name)?;
                for choice in choices.iter().filter(|choice| choice.len == object.size) {
                    self.object(object, choice.at, (0, object.size));
                }
            }
            _ => plain(Some(function.returns), choices, self.found),
        }
        Some(())
    }

    fn parameter(&mut self, function: &MockedFunction, number: usize) -> Option<()> {
        let signature = function.signature.as_ref()?;
        let i = number.checked_sub(1)?;
        match signature.params.get(i)? {
            Holds::Code(callback) => loop {
                if self.byte()? & 1 == 1 {
                    self.arguments(signature, callback)?;
                }
            },
            holds @ Holds::Pointer(_) => loop {
                if self.byte()? & 1 == 0 {
                    continue;
                }
                if function.writes_rows(i) {
                    let choice = self.choices.next()?;
                    self.row(holds, choice);
                } else {
                    let object = self.types.written(holds, function.is_output(i))?;
                    self.element(object, DEPTH)?;
                }
            },
            _ => None,
        }
    }

    /// Elements side by side: numbers, structures or characters.
    fn row(&mut self, holds: &Holds, choice: &Choice) {
        let object = match holds {
            Holds::Pointer(pointee) if pointee.to.is_some() => self.types.target(pointee),
            _ => None,
        };
        match object {
            Some(object) if object.size > 1 => {
                for i in 0..choice.len / object.size {
                    self.object(object, choice.at + i * object.size, (0, object.size));
                }
            }
            _ => self.text(choice.at, choice.len),
        }
    }

    fn arguments(&mut self, signature: &Signature, callback: &Signature) -> Option<()> {
        let untyped = |holds: &&Holds| matches!(holds, Holds::Pointer(Pointee { to: None, .. }));
        let context = signature.params.iter().any(|holds| untyped(&holds));
        for holds in &callback.params {
            match holds {
                Holds::Pointer(Pointee { to: None, .. }) if context => {}
                Holds::Pointer(pointee) => self.pointer(pointee, DEPTH)?,
                Holds::Code(_) => {}
                _ => {
                    let at = self.next(self.types.size(holds))?;
                    self.value(holds, at);
                }
            }
        }
        Some(())
    }

    fn pointer(&mut self, pointee: &Pointee, depth: usize) -> Option<()> {
        let selector = self.byte()?;
        if selector % 3 != 1 || depth == 0 {
            return Some(());
        }
        let object = self.types.target(pointee)?;
        let plan = self.types.plan(object);
        let most = most(pointee, object);
        if most > 1 && plan.pointers.is_empty() && !object.opaque {
            let at = self.next(most * object.size)?;
            for i in 0..most {
                self.object(object, at + i * object.size, (0, object.size));
            }
            return Some(());
        }
        for _ in 0..self.types.elements(pointee, object, selector) {
            self.element(object, depth - 1)?;
        }
        Some(())
    }

    /// An object: its bytes, then its pointers.
    fn element(&mut self, object: &ObjectType, depth: usize) -> Option<()> {
        let types = self.types;
        let plan = types.plan(object);
        for (offset, len) in plan.chosen {
            let at = self.next(len)?;
            self.object(object, at.wrapping_sub(offset), (offset, offset + len));
        }
        for (_, inner) in plan.pointers {
            match inner {
                Inner::Data(pointee) => self.pointer(pointee, depth)?,
                Inner::Code(_) => drop(self.byte()?),
            }
        }
        Some(())
    }

    /// The members of an object that lie in this part of it.
    fn object(&mut self, object: &ObjectType, at: usize, part: (usize, usize)) {
        if object.size == 1 {
            self.text(at, 1);
            return;
        }
        for member in &object.members {
            let end = member.offset + self.types.size(&member.holds);
            if part.0 <= member.offset && end <= part.1 {
                self.value(&member.holds, at.wrapping_add(member.offset));
            }
        }
    }

    fn value(&mut self, holds: &Holds, at: usize) {
        match holds {
            Holds::Int { size, signed } if *size > 1 || !signed => self.found.push(Span {
                at: at..at + size,
                sort: Sort::Number { signed: *signed },
            }),
            Holds::Int { .. } => self.text(at, 1),
            Holds::Struct(name) => {
                if let Some(object) = self.types.get(name) {
                    self.object(object, at, (0, object.size));
                }
            }
            Holds::Array { count, of } => {
                let step = self.types.size(of);
                match **of {
                    Holds::Int { size: 1, .. } => self.text(at, *count),
                    _ => (0..*count).for_each(|i| self.value(of, at + i * step)),
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, at: usize, len: usize) {
        self.found.push(Span {
            at: at..at + len,
            sort: Sort::Text,
        });
    }
}
