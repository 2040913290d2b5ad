//! Determines the meaning of the bytes of a tape, for the simplification of tapes.
//!
//! A tape is shortened byte by byte, but a test shows numbers, names and structures. The types with
//! which the choices are written ([`super::typed`]) determine which bytes form one number, and
//! which are characters.

use std::borrow::Cow;

use cegar_harness::build::MockedFunction;
use cegar_harness::channel::Shape;
use cegar_harness::external::codec::{self, Source};
use cegar_harness::external::{Holds, ObjectType, Types};
use cegar_model::machine::Choice;
use cegar_search::simulate::minimise::{Sort, Span};

/// The numbers and texts among the choices of a run.
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
                let types = Types(&function.types);
                let mut notes = Notes {
                    types,
                    tape,
                    choices: choices.iter(),
                    found: &mut found,
                };
                match function.asked(parameter) {
                    // Choices that do not match their type are skipped.
                    Some(asked) => while types.answer(asked, &mut notes).is_some() {},
                    None if parameter.is_none() => notes.results(function, &choices),
                    None => {}
                }
            }
            // A range is encoded with as few bytes as it needs.
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

/// Adds a span for each choice of a single value.
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

/// Assigns spans to the choices of one channel.
struct Notes<'a, 'c> {
    types: Types<'a>,
    tape: &'a [u8],
    choices: std::slice::Iter<'c, &'c Choice>,
    found: &'c mut Vec<Span>,
}

impl Source for Notes<'_, '_> {
    fn next(&mut self, what: codec::Choice<'_>, len: Option<usize>) -> Option<Cow<'_, [u8]>> {
        let choice = self.choices.next()?;
        if len.is_some_and(|len| len != choice.len) {
            return None;
        }
        let at = choice.at;
        match what {
            codec::Choice::Bytes(place) => {
                let part = (place.offset, place.offset + choice.len);
                self.row(place.object, at.wrapping_sub(place.offset), part);
            }
            codec::Choice::Elements(Some(object)) => {
                self.row(object, at, (0, choice.len / object.size * object.size));
            }
            codec::Choice::Elements(None) => self.text(at, choice.len),
            codec::Choice::Value(holds) => self.value(holds, at),
            _ => {}
        }
        let here = self.tape.iter().skip(at).copied();
        let padded = here.chain(std::iter::repeat(0));
        Some(padded.take(choice.len).collect())
    }
}

impl Notes<'_, '_> {
    /// Adds spans for results that are values.
    fn results(&mut self, function: &MockedFunction, choices: &[&Choice]) {
        match function.result() {
            _ if function.returns_into() => {
                let unsigned = Shape::Int {
                    size: 8,
                    signed: false,
                };
                plain(Some(unsigned), choices, self.found);
            }
            Some(Holds::Struct(name)) => {
                let object = self.types.get(&name);
                let fits = |choice: &&&Choice| object.is_some_and(|o| o.size == choice.len);
                for choice in choices.iter().filter(fits) {
                    self.value(&Holds::Struct(name.clone()), choice.at);
                }
            }
            _ => plain(Some(function.returns), choices, self.found),
        }
    }

    /// Adds spans for the elements of an array that lie in this part.
    fn row(&mut self, object: &ObjectType, at: usize, part: (usize, usize)) {
        for start in (0..part.1).step_by(object.size) {
            let part = (part.0.saturating_sub(start), part.1 - start);
            self.object(object, at.wrapping_add(start), part);
        }
    }

    /// Adds spans for the members of an object that lie in this part of it.
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
