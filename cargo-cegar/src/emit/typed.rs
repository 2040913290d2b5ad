//! The channels of external functions whose types are known, as calls of `Mock`.
//!
//! A function `f` has the channel `f` for what it returns and `f:2` for what its second parameter
//! points to, or for the function that it is. What does not parse is left to be written as bytes,
//! which replay just as well.

use cegar_harness::build::{MockedFunction, has_body};
use cegar_harness::external::{DEPTH, Holds, Pointee, Read, Signature, Types};

use super::layout::Expr;
use super::literal;
use super::objects::{Content, Objects};

/// Column of what follows `        .`.
const INDENT: usize = 8;

/// The calls for a channel of a typed function; none if it is not one of those.
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
    let signature = function.signature.as_ref()?;
    let of = Of {
        name,
        types: Types(&function.types),
        objects: Objects::new(&function.types),
    };
    match parameter {
        None if function.returns_into() => of.returned_into(events),
        None => match function.result()? {
            Holds::Pointer(pointee) if !function.raw_allowed && has_body(function) => {
                of.returned(&pointee, &events.concat())
            }
            Holds::Struct(name) => of.by_value(&name, events),
            _ => None,
        },
        Some(number) => {
            let i = number.checked_sub(1)?;
            match signature.params.get(i)? {
                Holds::Code(callback) => of.called_back(number, signature, callback, events),
                Holds::Pointer(pointee) => of.written(function, number, pointee, events),
                _ => None,
            }
        }
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

    /// Structures that were returned by value.
    fn by_value(&self, name: &str, events: &[&[u8]]) -> Option<Vec<String>> {
        let object = self.types.get(name)?;
        // Pointers in it are plain numbers, which no literal says.
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

    /// Pointers into what a parameter points to, call by call.
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

    /// Pointers that were returned, call by call.
    fn returned(&self, pointee: &Pointee, bytes: &[u8]) -> Option<Vec<String>> {
        let object = self.types.target(pointee);
        let (mut rest, mut calls) = (bytes, Vec::new());
        while !rest.is_empty() {
            let (read, after) = self.types.read(pointee, rest);
            rest = after;
            calls.push(match read {
                Read::Null | Read::Code => self.call("returns_null", Vec::new()),
                Read::Earlier(back) => {
                    self.call("returns_earlier", vec![Expr::plain(back.to_string())])
                }
                Read::Fresh(elements) => match object {
                    Some(object) if !object.opaque => {
                        match self.objects.elements(pointee, object, &elements) {
                            Content::Text(text) => {
                                self.call("returns_bytes", vec![Expr::Plain(text)])
                            }
                            Content::One(one) => self.call("returns_object", vec![one]),
                            Content::Row(row) => self.call("returns_objects", vec![Expr::Row(row)]),
                        }
                    }
                    _ => self.call("returns_object", vec![Expr::plain("0u8")]),
                },
            });
        }
        // Calls past the last one return NULL.
        let null = self.call("returns_null", Vec::new());
        while calls.len() > 1 && calls.last() == Some(&null) {
            calls.pop();
        }
        Some(calls)
    }

    /// What was written to where a parameter points.
    fn written(
        &self,
        function: &MockedFunction,
        number: usize,
        pointee: &Pointee,
        events: &[&[u8]],
    ) -> Option<Vec<String>> {
        let leaves = self.call("leaves", vec![Expr::plain(number.to_string())]);
        let mut calls = Vec::new();
        let object = self.types.target(pointee)?;
        let rows = function.writes_rows(number - 1);
        let is_text = rows && (object.size <= 1 || pointee.to.is_none());
        let mut events = events.iter();
        while let Some(event) = events.next() {
            let [written] = event else { return None };
            if written & 1 == 0 {
                calls.push(leaves.clone());
                continue;
            }
            let number = Expr::plain(number.to_string());
            let value = if is_text {
                Expr::Plain(format!("*{}", literal::byte_string(events.next()?)))
            } else if rows {
                let elements = events.next()?.chunks_exact(object.size);
                let bytes_left = elements.remainder();
                if !bytes_left.is_empty() {
                    return None;
                }
                let mut row: Vec<Expr> = elements
                    .map(|bytes| self.objects.value(object, bytes, &[]))
                    .collect();
                match row.len() {
                    1 => row.remove(0),
                    _ => Expr::Row(row),
                }
            } else if !self.types.plan(object).pointers.is_empty() {
                let bytes = events.as_slice().concat();
                let ((bytes_of, pointers), rest) = self.types.read_element(object, &bytes, DEPTH);
                // As many events as the object took.
                let mut taken = bytes.len() - rest.len();
                while taken > 0 {
                    taken = taken.checked_sub(events.next()?.len())?;
                }
                match self.objects.value(object, &bytes_of, &pointers) {
                    Expr::Plain(text) if text.ends_with("null_mut()") => {
                        Expr::plain("std::ptr::null_mut::<u8>()")
                    }
                    Expr::Plain(text) if text.starts_with("earlier(") => {
                        Expr::Plain(text.replacen("earlier", "earlier::<u8>", 1))
                    }
                    other => other,
                }
            } else {
                self.objects.value(object, events.next()?, &[])
            };
            calls.push(self.call("writes", vec![number, value]));
        }
        while calls.last() == Some(&leaves) {
            calls.pop();
        }
        Some(calls)
    }

    /// The calls of a function that was handed out.
    fn called_back(
        &self,
        number: usize,
        signature: &Signature,
        callback: &Signature,
        events: &[&[u8]],
    ) -> Option<Vec<String>> {
        let context = signature
            .params
            .iter()
            .any(|holds| matches!(holds, Holds::Pointer(Pointee { to: None, .. })));
        let no_more = self.call("calls_no_more", vec![Expr::plain(number.to_string())]);
        let mut calls = Vec::new();
        let mut events = events.iter();
        while let Some(event) = events.next() {
            let [called] = event else { return None };
            if called & 1 == 0 {
                calls.push(no_more.clone());
                continue;
            }
            let mut arguments = Vec::new();
            for holds in &callback.params {
                match holds {
                    Holds::Pointer(Pointee { to: None, .. }) if context => {}
                    Holds::Int { .. } | Holds::Bool | Holds::Float { .. } => {
                        arguments.push(number_of(holds, events.next()?)?);
                    }
                    Holds::Code(_) => {}
                    // Objects among the arguments are written as bytes.
                    _ => return None,
                }
            }
            let number = Expr::plain(number.to_string());
            calls.push(if arguments.is_empty() {
                self.call("calls", vec![number])
            } else {
                let list = format!("[{}]", of_one_type(arguments).join(", "));
                self.call("calls_back", vec![number, Expr::Plain(list)])
            });
        }
        while calls.last() == Some(&no_more) {
            calls.pop();
        }
        Some(calls)
    }
}

fn number_of(holds: &Holds, bytes: &[u8]) -> Option<String> {
    let mut wide = [0; 8];
    match holds {
        Holds::Bool => Some(u8::from(bytes.first()? & 1 == 1).to_string()),
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

/// Numbers for one array: where one is too large for an `i32` it says the type that holds them all.
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
