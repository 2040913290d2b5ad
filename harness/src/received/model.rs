//! The expected output of the C program, computed from what the walk reads; and the values that it
//! read, encoded like those of a test.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::ROUNDS;
use super::program::{BEFORE, Part, parts, plain, row};
use super::types::{World, callee};
use crate::external::codec::{
    Argument, CALLS_BACK, CallInput, CallInputValue, Choice, Element, Handed, ReadObject, SET,
    Selector, Source, is_set,
};
use crate::external::{Holds, ObjectType, Pointee, Types};
use crate::mocked::MockedFunction;
use crate::object;

/// The number of objects that the plain mocks remember.
const REMEMBERED: usize = 32;

/// The remaining bytes of a channel, and the number of bytes that the program asks for.
struct Queue<'a> {
    rest: &'a [u8],
    row: usize,
}

impl Source for Queue<'_> {
    fn next(&mut self, choice: Choice<'_>, len: Option<usize>) -> Option<Cow<'_, [u8]>> {
        self.rest.next(choice, Some(len.unwrap_or(self.row)))
    }
}

/// A model of the program.
pub(super) struct Model<'a> {
    world: &'a World,
    types: Types<'a>,
    queues: BTreeMap<&'a str, Queue<'a>>,
    /// The numbers of the objects of a type that were handed out, the latest first.
    given: BTreeMap<(bool, String), Vec<usize>>,
    /// The objects of the plain mocks: number and size.
    plain: Vec<(usize, usize)>,
    count: usize,
    text: String,
}

impl<'a> Model<'a> {
    pub(super) fn new(world: &'a World, queues: &'a [(String, Vec<u8>)]) -> Self {
        let queue = |(name, bytes): &'a (String, Vec<u8>)| {
            let rest = &bytes[..];
            (&name[..], Queue { rest, row: 0 })
        };
        Model {
            world,
            types: Types(&world.types),
            queues: queues.iter().map(queue).collect(),
            given: BTreeMap::new(),
            plain: Vec::new(),
            count: 0,
            text: String::new(),
        }
    }

    /// The output of the program.
    pub(super) fn run(mut self) -> String {
        for _ in 0..ROUNDS {
            for function in &self.world.functions {
                let _ = write!(self.text, "{} ", function.name);
                self.call(function);
                self.text += "\n";
            }
        }
        self.text
    }

    fn take(&mut self, channel: &str, len: usize) -> Vec<u8> {
        let rest = self.queues.get_mut(channel).map(|queue| &mut queue.rest);
        let Some(rest) = rest else {
            return vec![0; len];
        };
        let taken = rest.next(Choice::Whether, Some(len));
        taken.map(Cow::into_owned).unwrap_or_default()
    }

    fn answer(
        &mut self,
        function: &'a MockedFunction,
        parameter: Option<usize>,
        asked: CallInput<'a>,
    ) -> CallInputValue<'a> {
        let channel = match parameter {
            Some(number) => format!("{}:{number}", function.name),
            None => function.name.clone(),
        };
        let row = row(self.types, function);
        let mut none = Queue { rest: &[], row };
        let queue = self.queues.get_mut(&channel[..]).unwrap_or(&mut none);
        queue.row = row;
        let answer = self.types.answer(asked, queue);
        answer.expect("bytes never end")
    }

    fn call(&mut self, function: &'a MockedFunction) {
        if function.signature.is_none() {
            return self.call_plain(function);
        }
        let parameter = function.asked(Some(1));
        if let Some(asked @ CallInput::Result(pointee)) = function.asked(None) {
            if let CallInputValue::Result(read) = self.answer(function, None, asked) {
                self.pointer(pointee, &read);
            }
        } else if let Some(asked @ CallInput::Call(callback, of)) = parameter {
            for _ in 0..CALLS_BACK {
                let CallInputValue::Call(arguments) = self.answer(function, Some(1), asked) else {
                    return;
                };
                self.text += "( ";
                let mut arguments = arguments.into_iter();
                for handed in of.handed(callback) {
                    match handed {
                        Handed::Beside(_) => self.text += "1 ",
                        Handed::Null => self.text += "0 ",
                        Handed::Object(pointee) => {
                            if let Some(Argument::Object(read)) = arguments.next() {
                                self.pointer(pointee, &read);
                            }
                        }
                        Handed::Value(holds) => {
                            if let Some(Argument::Value(_, mut bytes)) = arguments.next() {
                                if *holds == Holds::Bool {
                                    bytes[0] = u8::from(is_set(bytes[0]));
                                }
                                self.hex(&bytes);
                            }
                        }
                    }
                }
            }
        } else if let Some(asked) = parameter {
            // If the mock writes the bytes that were there before, the program sees no change.
            let differs = |bytes: &[u8]| bytes.iter().any(|byte| *byte != BEFORE);
            match (self.answer(function, Some(1), asked), asked) {
                (CallInputValue::Elements(bytes), _) if differs(&bytes) => self.hex(&bytes),
                (CallInputValue::Object(element), CallInput::Object(object))
                    if differs(&element.0) =>
                {
                    self.element(object, Some(&element));
                }
                _ => self.text += "left ",
            }
        } else if matches!(function.result(), Some(Holds::Code(_))) {
            let channel = format!("{}.result", function.name);
            let set = is_set(self.take(&function.name, 1)[0]);
            self.code(set, &channel);
        }
    }

    /// A call of a mock without types.
    fn call_plain(&mut self, function: &MockedFunction) {
        let (name, size) = (&function.name, plain(function));
        let selector = Selector::of(self.take(name, 1)[0]);
        let of_size: Vec<usize> = self
            .plain
            .iter()
            .filter(|(_, given)| *given == size)
            .map(|(number, _)| *number)
            .collect();
        match selector {
            Selector::Null => self.text += "0 ",
            Selector::Earlier(_) if function.may_return_any_address => {
                let bytes = self.take(name, 8);
                match bytes[6..] == [0, 0] {
                    true => {
                        self.text += if bytes.iter().any(|byte| *byte != 0) {
                            "1 "
                        } else {
                            "0 "
                        }
                    }
                    false => self.hex(&bytes),
                }
            }
            Selector::Earlier(back) if !of_size.is_empty() => {
                let back = usize::from(back) % of_size.len();
                let _ = write!(self.text, "@{} ", of_size[of_size.len() - 1 - back]);
            }
            _ => {
                let bytes = self.take(name, size);
                if self.plain.len() < REMEMBERED {
                    self.plain.push((self.count, size));
                }
                if function.may_return_any_address {
                    self.text += "1 ";
                } else {
                    let _ = write!(self.text, "#{} ", self.count);
                    self.count += 1;
                    self.hex(&bytes);
                }
            }
        }
    }

    fn hex(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let _ = write!(self.text, "{byte:02x}");
        }
        self.text += " ";
    }

    fn code(&mut self, is_set: bool, channel: &str) {
        if !is_set {
            self.text += "0 ";
            return;
        }
        let size = callee().returns.map_or(0, |holds| self.types.size(&holds));
        let bytes = self.take(channel, size);
        let number = i32::from_le_bytes(bytes.try_into().expect("an int"));
        let _ = write!(self.text, "f{number} ");
    }

    fn pointer(&mut self, pointee: &Pointee, read: &ReadObject) {
        let object = self.types.target(pointee);
        let given = self
            .given
            .entry((pointee.many, object.name.clone()))
            .or_default();
        match read {
            ReadObject::Null | ReadObject::Code => self.text += "0 ",
            ReadObject::Earlier(back) => match given.get(usize::from(*back)) {
                Some(number) => {
                    let _ = write!(self.text, "@{number} ");
                }
                None => self.text += "0 ",
            },
            ReadObject::Fresh(elements) => {
                given.insert(0, self.count);
                let _ = write!(self.text, "#{} ", self.count);
                self.count += 1;
                for i in 0..self.types.array_layout(pointee, object).room() {
                    self.element(object, elements.get(i));
                }
                self.text += "] ";
            }
        }
    }

    /// Prints an element. An element that was not read has zeros.
    fn element(&mut self, object: &ObjectType, element: Option<&Element>) {
        let none = (vec![0; object.size], Vec::new());
        let (bytes, pointers) = element.unwrap_or(&none);
        for part in parts(self.types, object) {
            let read = |at| pointers.iter().find(|(offset, _)| *offset == at);
            match part {
                Part::Bytes(at, len) => self.hex(&bytes[at..at + len]),
                Part::Pointer(at, pointee) => {
                    self.pointer(
                        pointee,
                        read(at).map_or(&ReadObject::Null, |(_, read)| read),
                    );
                }
                Part::Code(at) => {
                    let is_set = read(at).is_some_and(|(_, read)| *read == ReadObject::Code);
                    let path = self.types.path(object, at);
                    self.code(is_set, &format!("{}.{path}", object.name));
                }
            }
        }
    }
}

/// The same channels, with the values that were read from them encoded like those of a test. Fails
/// if the encoding is read as other values.
pub(super) fn encoded(
    world: &World,
    queues: &[(String, Vec<u8>)],
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let types = Types(&world.types);
    let mut all = queues.to_vec();
    for (channel, bytes) in &mut all {
        let function = |name: &str| world.functions.iter().find(|f| f.name == name);
        let asked = match channel.rsplit_once(':') {
            Some((name, _)) => function(name).and_then(|function| function.asked(Some(1))),
            None => function(channel).and_then(|function| function.asked(None)),
        };
        let Some(asked @ (CallInput::Result(_) | CallInput::Object(_))) = asked else {
            continue;
        };
        let (mut rest, mut out) = (&bytes[..], Vec::new());
        for _ in 0..ROUNDS {
            let value = types.answer(asked, &mut rest);
            let written = match (&value, asked) {
                (Some(CallInputValue::Result(read)), CallInput::Result(pointee)) => {
                    pointer(types, pointee, read)
                }
                (Some(CallInputValue::Object(element)), CallInput::Object(object)) => {
                    object::encode_object(types, object, memory(types, object, element))
                        .map(|bytes| [&[SET], &bytes[..]].concat())
                }
                _ => Ok(vec![0]),
            };
            let written = written.map_err(|why| format!("{channel}: {why}: {value:?}"))?;
            let again = types.answer(asked, &mut &written[..]);
            if again != value {
                return Err(format!(
                    "{channel}: {value:?} is written, and {again:?} read"
                ));
            }
            out.extend(written);
        }
        *bytes = out;
    }
    Ok(all)
}

/// Encodes a result.
fn pointer(
    types: Types<'_>,
    pointee: &Pointee,
    read: &ReadObject,
) -> Result<Vec<u8>, object::Mismatch> {
    match read {
        ReadObject::Null | ReadObject::Code => Ok(vec![Selector::Null.byte()]),
        ReadObject::Earlier(back) => Ok(vec![Selector::Earlier(*back).byte()]),
        ReadObject::Fresh(elements) => {
            let object = types.target(pointee);
            object::encode(
                types,
                pointee,
                elements_of(types, object, elements),
                object.size,
            )
        }
    }
}

fn elements_of(types: Types<'_>, object: &ObjectType, elements: &[Element]) -> Vec<u8> {
    let all = elements
        .iter()
        .map(|element| memory(types, object, element));
    all.collect::<Vec<_>>().concat()
}

/// The bytes of an element in memory.
fn memory(types: Types<'_>, object: &ObjectType, (bytes, pointers): &Element) -> Vec<u8> {
    let mut memory = bytes.clone();
    for part in parts(types, object) {
        let (Part::Pointer(at, _) | Part::Code(at)) = part else {
            continue;
        };
        let read = pointers.iter().find(|(offset, _)| *offset == at);
        let address = match (read.map(|(_, read)| read), part) {
            (Some(ReadObject::Code), _) => object::code::<u8>() as usize,
            (Some(ReadObject::Earlier(back)), _) => object::earlier::<u8>(*back) as usize,
            (Some(ReadObject::Fresh(elements)), Part::Pointer(_, pointee)) => {
                let object = types.target(pointee);
                object::made_of(elements_of(types, object, elements), object.size)
            }
            _ => 0,
        };
        memory[at..at + 8].copy_from_slice(&address.to_le_bytes());
    }
    memory
}
