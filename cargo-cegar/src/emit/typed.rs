//! Converts the channels of external functions with known types to calls of `Mock`.
//!
//! A function `f` has the channel `f` for its result, and `f:2` for the target of its second
//! parameter, or for the calls of that parameter if it is a function. Choices that cannot be parsed
//! are written as raw bytes, which replay just as well.

use cegar_harness::build::MockedFunction;
use cegar_harness::external::codec::{Argument, CallInput, CallInputValue, ReadObject, is_set};
use cegar_harness::external::{Holds, ObjectType, Types};

use super::layout::Expr;
use super::literal;
use super::objects::{Content, Objects};

/// The column after `        .`.
const INDENT: usize = 8;

/// The calls for a channel of a typed function; `None` for any other channel.
pub(super) fn calls(
    functions: &[MockedFunction],
    channel: &str,
    events: &[&[u8]],
) -> Option<Vec<String>> {
    let (name, parameter) = match channel.rsplit_once(':') {
        Some((name, number)) => (name, Some(number.parse::<usize>().ok()?)),
        None => (channel, None),
    };
    let members: Vec<MockedFunction>;
    let function = match functions.iter().find(|f| f.channel() == name) {
        Some(function) => function,
        None => {
            members = functions.iter().flat_map(MockedFunction::members).collect();
            let found = members.into_iter().find(|f| f.name == name)?;
            return of_function(&found, name, parameter, events);
        }
    };
    of_function(function, name, parameter, events)
}

fn of_function(
    function: &MockedFunction,
    name: &str,
    parameter: Option<usize>,
    events: &[&[u8]],
) -> Option<Vec<String>> {
    let of = Of {
        name,
        types: Types(&function.types),
        objects: Objects::new(&function.types),
    };
    match (function.asked(parameter), parameter) {
        (Some(asked), _) => of.answers(asked, parameter, events),
        (None, None) if function.returns_into() => of.returned_into(events),
        (None, None) => match function.result()? {
            Holds::Struct(name) => of.by_value(&name, events),
            _ => None,
        },
        _ => None,
    }
}

struct Of<'a> {
    name: &'a str,
    types: Types<'a>,
    objects: Objects<'a>,
}

impl Of<'_> {
    fn call(&self, method: &str, more: Vec<Expr>) -> String {
        let mut arguments = vec![Expr::Plain(format!("{:?}", self.name))];
        arguments.extend(more);
        Expr::Call(method.to_owned(), arguments).show(INDENT)
    }

    /// The calls for structures that were returned by value.
    fn by_value(&self, name: &str, events: &[&[u8]]) -> Option<Vec<String>> {
        let object = self.types.get(name)?;
        // Pointers in it are plain numbers, which a literal cannot express.
        if !self.types.plan(object).pointers.is_empty() {
            return None;
        }
        let call = |event: &&[u8]| {
            let value = self.objects.value(object, event, &[]);
            self.call("returns_value", vec![value])
        };
        let fits = events.iter().all(|event| event.len() == object.size);
        fits.then(|| events.iter().map(call).collect())
    }

    /// The calls for pointers into the target of a parameter.
    fn returned_into(&self, events: &[&[u8]]) -> Option<Vec<String>> {
        let mut calls = Vec::new();
        let mut events = events.iter().peekable();
        while let Some(event) = events.next() {
            let [_] = event else { return None };
            let element = events.next_if(|next| next.len() == size_of::<u64>());
            calls.push(match element {
                None => self.call("returns_null", Vec::new()),
                Some(bytes) => {
                    let element = u64::from_le_bytes((*bytes).try_into().ok()?);
                    self.call("returns_into", vec![Expr::plain(element.to_string())])
                }
            });
        }
        Some(calls)
    }

    /// The calls for results, written values or callbacks of a function.
    fn answers(
        &self,
        asked: CallInput<'_>,
        parameter: Option<usize>,
        events: &[&[u8]],
    ) -> Option<Vec<String>> {
        let number = || parameter.map(|number| Expr::plain(number.to_string()));
        let call = |method: &str, more: Option<Expr>| {
            self.call(method, number().into_iter().chain(more).collect())
        };
        let nothing = match asked {
            CallInput::Result(_) => call("returns_null", None),
            CallInput::Call(..) => call("calls_no_more", None),
            CallInput::Elements(_) | CallInput::Object(_) => call("leaves", None),
        };
        let (mut calls, mut events) = (Vec::new(), events.iter());
        while !events.as_slice().is_empty() {
            calls.push(match (self.types.answer(asked, &mut events)?, asked) {
                (CallInputValue::Result(read), CallInput::Result(pointee)) => match read {
                    ReadObject::Null | ReadObject::Code => nothing.clone(),
                    ReadObject::Earlier(back) => {
                        call("returns_earlier", Some(Expr::plain(back.to_string())))
                    }
                    ReadObject::Fresh(_) if self.types.target(pointee).opaque => {
                        call("returns_object", Some(Expr::plain("0u8")))
                    }
                    ReadObject::Fresh(elements) => {
                        let object = self.types.target(pointee);
                        match self.objects.elements(pointee, object, &elements) {
                            Content::Text(text) => call("returns_bytes", Some(Expr::Plain(text))),
                            Content::One(one) => call("returns_object", Some(one)),
                            Content::Row(row) => call("returns_objects", Some(Expr::Row(row))),
                        }
                    }
                },
                (CallInputValue::Elements(bytes), CallInput::Elements(object)) => {
                    call("writes", Some(self.row(object, &bytes)?))
                }
                (CallInputValue::Object((bytes, pointers)), CallInput::Object(object)) => {
                    let value = self.objects.value(object, &bytes, &pointers);
                    call("writes", Some(with_type(value)))
                }
                (CallInputValue::Call(arguments), _) if arguments.is_empty() => call("calls", None),
                (CallInputValue::Call(arguments), _) => {
                    let numbers = arguments
                        .iter()
                        .map(number_of)
                        .collect::<Option<Vec<_>>>()?;
                    let list = format!("[{}]", of_one_type(numbers).join(", "));
                    call("calls_back", Some(Expr::Plain(list)))
                }
                _ => nothing.clone(),
            });
        }
        // The mock does the same in all further calls, so trailing calls are left out. At least one
        // result is written.
        let least = usize::from(parameter.is_none());
        while calls.len() > least && calls.last() == Some(&nothing) {
            calls.pop();
        }
        Some(calls)
    }

    /// The elements that were written.
    fn row(&self, object: Option<&ObjectType>, bytes: &[u8]) -> Option<Expr> {
        let Some(object) = object else {
            return Some(Expr::Plain(format!("*{}", literal::byte_string(bytes))));
        };
        let elements = bytes.chunks_exact(object.size);
        if !elements.remainder().is_empty() {
            return None;
        }
        let value = |element| self.objects.value(object, element, &[]);
        let mut row: Vec<Expr> = elements.map(value).collect();
        Some(match row.len() {
            1 => row.remove(0),
            _ => Expr::Row(row),
        })
    }
}

/// Adds a type to a pointer whose type cannot be inferred.
fn with_type(value: Expr) -> Expr {
    match value {
        Expr::Plain(text) if text.ends_with("null_mut()") => {
            Expr::plain("std::ptr::null_mut::<u8>()")
        }
        Expr::Plain(text) if text.starts_with("earlier(") => {
            Expr::Plain(text.replacen("earlier", "earlier::<u8>", 1))
        }
        other => other,
    }
}

/// A numeric argument; `None` for objects, so that such calls are written as bytes.
fn number_of(argument: &Argument<'_>) -> Option<String> {
    let Argument::Value(holds, bytes) = argument else {
        return None;
    };
    let (mut wide, bytes) = ([0; 8], &bytes[..]);
    match holds {
        Holds::Bool => Some(u8::from(is_set(*bytes.first()?)).to_string()),
        Holds::Float { size: 4 } => {
            Some(format!("{:?}", f32::from_le_bytes(bytes.try_into().ok()?)))
        }
        Holds::Float { .. } => Some(format!("{:?}", f64::from_le_bytes(bytes.try_into().ok()?))),
        Holds::Int { size, signed } => {
            let negative = *signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
            if negative {
                wide = [0xFF; 8];
            }
            wide.get_mut(..*size)?.copy_from_slice(bytes);
            let value = i64::from_le_bytes(wide);
            Some(value.to_string())
        }
        _ => None,
    }
}

/// Numbers for one array. If one of them does not fit an `i32`, those numbers get the suffix of a
/// type that fits all.
fn of_one_type(mut numbers: Vec<String>) -> Vec<String> {
    let values: Vec<i64> = numbers.iter().filter_map(|n| n.parse().ok()).collect();
    let is_large = |value: &i64| i32::try_from(*value).is_err();
    if values.len() < numbers.len() || !values.iter().any(is_large) {
        return numbers;
    }
    let unsigned = values.iter().all(|value| u32::try_from(*value).is_ok());
    for (text, value) in numbers.iter_mut().zip(values) {
        if is_large(&value) {
            *text = if unsigned {
                format!("{value:#x}u32")
            } else {
                format!("{value}i64")
            };
        }
    }
    numbers
}
