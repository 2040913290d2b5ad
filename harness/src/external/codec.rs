//! The grammar by which objects from outside stand on a channel.
//!
//! Three readers must meet the same choices in the same order as the C bodies: the code that reads
//! a test's objects off a run, the code that looks for numbers on a tape, and the code that writes
//! a test's values as bytes. There is therefore a single walk over the grammar, which asks a
//! [`Source`] for each choice. The source answers from bytes, from the choices of a run, or from
//! values in memory ([`object`](crate::object())). The walk tells the source what a choice decides,
//! and returns what was read. The C bodies are generated from the constants and the [`Plan`]
//! defined here, and a test compares what they receive with what the walk reads.
//!
//! A pointer is encoded as a byte, the *selector*. Modulo [`SORTS`] it is [`NULL`], [`FRESH`] or
//! [`EARLIER`]; the quotient gives the number of elements or which earlier object it is. Fresh
//! elements follow, each as the bytes between its pointers and then its pointers. A pointer to a
//! function is encoded as a *flag*: one bit of a byte.

use std::borrow::Cow;

use super::{Holds, Inner, ObjectType, Pointee, Signature, Types};

/// The maximal number of elements of an array from outside, if the program indexes the pointer to
/// it.
pub const ELEMENTS: usize = 8;
/// The same maximum for an array of single bytes.
pub const CHARACTERS: usize = 64;
/// The maximal length of a chain of fresh objects. At this depth, pointers are NULL or lead to
/// earlier objects.
pub const DEPTH: usize = 8;
/// How often one call can call back a function that it was given.
pub const CALLS_BACK: usize = 2;
/// The number of pointers within one object that are followed; further pointers are NULL.
pub const FOLLOWED: usize = 64;
/// The bit of a flag byte that counts.
pub const SET: u8 = 1;

/// The number of sorts of selectors.
pub(crate) const SORTS: u8 = 3;
/// The sort of a NULL pointer.
pub(crate) const NULL: u8 = 0;
/// The sort of a pointer to a fresh object.
pub(crate) const FRESH: u8 = 1;
/// The sort of a pointer to an object that was handed out before.
pub(crate) const EARLIER: u8 = 2;
/// The number of objects of each type that can be handed out again.
pub(crate) const REMEMBERED: u8 = 2;

/// A decoded selector of a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// The pointer is NULL.
    Null,
    /// The pointer leads to fresh elements. If their number is chosen, it is one more than this.
    Fresh(u8),
    /// The pointer leads to an earlier object, counted back from the latest one. (For a mock
    /// without types, it may be a raw address.)
    Earlier(u8),
}

impl Selector {
    /// Decodes a selector byte.
    pub const fn of(byte: u8) -> Selector {
        match byte % SORTS {
            NULL => Selector::Null,
            FRESH => Selector::Fresh(byte / SORTS),
            _ => Selector::Earlier(byte / SORTS),
        }
    }

    /// Encodes the selector. A number that is too large is replaced by the largest one.
    pub const fn byte(self) -> u8 {
        let (sort, number) = match self {
            Selector::Null => (NULL, 0),
            Selector::Fresh(number) => (FRESH, number),
            Selector::Earlier(number) => (EARLIER, number),
        };
        let most = (u8::MAX - sort) / SORTS;
        sort + SORTS * if number < most { number } else { most }
    }
}

/// Whether a flag is set.
pub const fn is_set(flag: u8) -> bool {
    flag & SET == SET
}

/// The layout of an object on a channel: first the bytes between the pointers, then pointer by
/// pointer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan<'a> {
    /// Runs of bytes that are chosen: offset and length.
    pub chosen: Vec<(usize, usize)>,
    /// The pointers, by offset.
    pub pointers: Vec<(usize, Inner<'a>)>,
    /// Runs of pointers beyond [`FOLLOWED`], which are NULL: offset and length.
    pub null: Vec<(usize, usize)>,
}

/// The layout of the fresh elements behind a pointer on a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayLayout {
    /// The maximal number of elements.
    pub most: usize,
    /// Whether the number of elements is chosen. It is not chosen if the elements hold no pointers:
    /// then the maximal number is read from the channel, with zeros past its end, so that a search
    /// need not guess a length before it can look at an element.
    pub is_counted: bool,
    /// The number of bytes of all elements, if they are one choice. It is 0 for types whose content
    /// the program cannot access.
    pub at_once: Option<usize>,
}

impl ArrayLayout {
    /// The number of elements for this number in the selector.
    pub fn count(self, more: u8) -> usize {
        match self.is_counted {
            true => 1 + usize::from(more) % self.most,
            false => self.most,
        }
    }

    /// The number of elements that are allocated. Characters from outside have a terminating NUL.
    pub fn room(self) -> usize {
        match self.most {
            CHARACTERS => CHARACTERS + 1,
            most => most,
        }
    }
}

/// An object that was read from a channel.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadObject {
    /// NULL.
    Null,
    /// An earlier object, counted back from the latest one.
    Earlier(u8),
    /// A function: the mock of the member that points to it.
    Code,
    /// Fresh elements.
    Fresh(Vec<Element>),
}

/// An element: its bytes, and its pointers with their offsets.
pub type Element = (Vec<u8>, Vec<(usize, ReadObject)>);

/// The position of a choice within an object.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The object's type.
    pub object: &'a ObjectType,
    /// The index of the element.
    pub element: usize,
    /// The offset in the element.
    pub offset: usize,
    /// How many further links its pointers may have.
    pub depth: usize,
}

/// What a choice decides.
#[derive(Debug, Clone, Copy)]
pub enum Choice<'a> {
    /// Where a pointer leads, as a selector. A result or an argument has no place.
    Pointer(&'a Pointee, Option<Place<'a>>),
    /// Whether this pointer to a function is not NULL, as a flag.
    Code(Place<'a>),
    /// Bytes of an object from this place on, or the bytes of all elements of an array.
    Bytes(Place<'a>),
    /// Whether the function writes, or calls back, as a flag.
    Whether,
    /// A number that is passed to a function that is called back.
    Value(&'a Holds),
    /// As many elements as the program asked for; of bytes if there is no type.
    Elements(Option<&'a ObjectType>),
}

/// A provider of the choices for the walk.
pub trait Source {
    /// The bytes of the next choice: `len` bytes, or as many as there are if the program determines
    /// the number. `None` ends the walk.
    fn next(&mut self, choice: Choice<'_>, len: Option<usize>) -> Option<Cow<'_, [u8]>>;
}

/// The bytes of a channel, with zeros past its end.
impl Source for &[u8] {
    fn next(&mut self, _: Choice<'_>, len: Option<usize>) -> Option<Cow<'_, [u8]>> {
        let len = len.unwrap_or(self.len());
        let (taken, rest) = self.split_at(len.min(self.len()));
        *self = rest;
        Some(match taken.len() < len {
            true => {
                let mut padded = taken.to_vec();
                padded.resize(len, 0);
                Cow::Owned(padded)
            }
            false => Cow::Borrowed(taken),
        })
    }
}

/// The choices of one channel with their lengths. The walk ends if a choice has another length than
/// it expects.
impl Source for std::slice::Iter<'_, &[u8]> {
    fn next(&mut self, _: Choice<'_>, len: Option<usize>) -> Option<Cow<'_, [u8]>> {
        let next: &[u8] = Iterator::next(self)?;
        (len.is_none_or(|len| len == next.len())).then_some(Cow::Borrowed(next))
    }
}

/// What a call reads from one of its channels.
#[derive(Debug, Clone, Copy)]
pub enum CallInput<'a> {
    /// The pointer that it returns.
    Result(&'a Pointee),
    /// The elements that it writes to where a parameter points, if it writes.
    Elements(Option<&'a ObjectType>),
    /// The object that it writes to where a parameter points, if it writes.
    Object(&'a ObjectType),
    /// The arguments of a parameter that is a function, if it is called. The first type is this
    /// function's, the second one is that of the function that has the parameter.
    Call(&'a Signature, &'a Signature),
}

/// What a call read from one of its channels.
#[derive(Debug, Clone, PartialEq)]
pub enum CallInputValue<'a> {
    /// Its result.
    Result(ReadObject),
    /// It does not write, or does not call back.
    Nothing,
    /// It writes elements with these bytes.
    Elements(Vec<u8>),
    /// It writes this object.
    Object(Element),
    /// It calls the function with these arguments.
    Call(Vec<Argument<'a>>),
}

/// An argument that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument<'a> {
    /// A number, its type and bytes.
    Value(&'a Holds, Vec<u8>),
    /// An object.
    Object(ReadObject),
}

/// The origin of an argument of a function that is called back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Handed<'a> {
    /// The parameter with this number, from 0, of the function that has the callback:
    /// `void *context`.
    Beside(usize),
    /// It is NULL.
    Null,
    /// A pointer to an object from the channel.
    Object(&'a Pointee),
    /// A value from the channel.
    Value(&'a Holds),
}

impl Signature {
    /// The origins of the arguments that `callback`, a parameter, is called with.
    pub fn handed<'c>(&self, callback: &'c Signature) -> impl Iterator<Item = Handed<'c>> {
        let untyped = |holds: &Holds| matches!(holds, Holds::Pointer(Pointee { to: None, .. }));
        let beside = self.params.iter().position(untyped);
        callback
            .params
            .iter()
            .map(move |holds| match (holds, beside) {
                (Holds::Pointer(Pointee { to: None, .. }), Some(at)) => Handed::Beside(at),
                (Holds::Pointer(pointee), _) => Handed::Object(pointee),
                (Holds::Code(_), _) => Handed::Null,
                _ => Handed::Value(holds),
            })
    }
}

fn byte(source: &mut impl Source, choice: Choice<'_>) -> Option<u8> {
    source.next(choice, Some(1))?.first().copied()
}

impl<'a> Types<'a> {
    /// The layout of objects of a type on a channel.
    pub fn plan<'o>(self, object: &'o ObjectType) -> Plan<'o>
    where
        'a: 'o,
    {
        let mut plan = Plan::default();
        for member in &object.members {
            self.pointers(&member.holds, member.offset, &mut plan.pointers);
        }
        if object.opaque {
            return plan;
        }
        let mut at = 0;
        for (offset, _) in &plan.pointers {
            if *offset > at {
                plan.chosen.push((at, offset - at));
            }
            at = offset + 8;
        }
        if object.size > at {
            plan.chosen.push((at, object.size - at));
        }
        for (offset, _) in plan.pointers.iter().skip(FOLLOWED) {
            match plan.null.last_mut() {
                Some((start, length)) if *start + *length == *offset => *length += 8,
                _ => plan.null.push((*offset, 8)),
            }
        }
        plan.pointers.truncate(FOLLOWED);
        plan
    }

    fn pointers<'o>(self, holds: &'o Holds, offset: usize, into: &mut Vec<(usize, Inner<'o>)>)
    where
        'a: 'o,
    {
        match holds {
            Holds::Pointer(pointee) => into.push((offset, Inner::Data(pointee))),
            Holds::Code(signature) => into.push((offset, Inner::Code(signature))),
            Holds::Struct(name) => {
                for member in self.get(name).into_iter().flat_map(|known| &known.members) {
                    self.pointers(&member.holds, offset + member.offset, into);
                }
            }
            Holds::Array { count, of } => {
                let step = self.size(of);
                for i in 0..*count {
                    self.pointers(of, offset + i * step, into);
                }
            }
            _ => {}
        }
    }

    /// The layout of the elements that a pointer leads to on a channel.
    pub fn array_layout(self, pointee: &Pointee, object: &ObjectType) -> ArrayLayout {
        let most = match (pointee.many, object.size) {
            (false, _) => 1,
            (true, 0 | 1) => CHARACTERS,
            (true, 2..=32) => ELEMENTS,
            (true, _) => ELEMENTS / 4,
        };
        let is_plain = self.plan(object).pointers.is_empty();
        let chosen = if object.opaque { 0 } else { object.size };
        ArrayLayout {
            most,
            is_counted: most > 1 && !is_plain,
            at_once: (most > 1 && is_plain).then_some(most * chosen),
        }
    }

    /// Reads what one call takes from a channel.
    pub fn answer<'s>(
        self,
        asked: CallInput<'s>,
        source: &mut impl Source,
    ) -> Option<CallInputValue<'s>> {
        if let CallInput::Result(pointee) = asked {
            return self.read(pointee, source).map(CallInputValue::Result);
        }
        if !is_set(byte(source, Choice::Whether)?) {
            return Some(CallInputValue::Nothing);
        }
        Some(match asked {
            CallInput::Result(pointee) => CallInputValue::Result(self.read(pointee, source)?),
            CallInput::Elements(object) => {
                let bytes = source.next(Choice::Elements(object), None)?;
                CallInputValue::Elements(bytes.into_owned())
            }
            CallInput::Object(object) => CallInputValue::Object(self.read_object(object, source)?),
            CallInput::Call(callback, of) => {
                let mut arguments = Vec::new();
                for handed in of.handed(callback) {
                    match handed {
                        Handed::Beside(_) | Handed::Null => {}
                        Handed::Object(pointee) => {
                            arguments.push(Argument::Object(self.read(pointee, source)?));
                        }
                        Handed::Value(holds) => {
                            let bytes =
                                source.next(Choice::Value(holds), Some(self.size(holds)))?;
                            arguments.push(Argument::Value(holds, bytes.into_owned()));
                        }
                    }
                }
                CallInputValue::Call(arguments)
            }
        })
    }

    /// Reads a pointer.
    pub fn read(self, pointee: &Pointee, source: &mut impl Source) -> Option<ReadObject> {
        self.read_pointer(pointee, None, source)
    }

    /// Reads an object itself.
    pub fn read_object(self, object: &ObjectType, source: &mut impl Source) -> Option<Element> {
        let place = Place {
            object,
            element: 0,
            offset: 0,
            depth: DEPTH,
        };
        self.read_element(place, source)
    }

    fn read_pointer(
        self,
        pointee: &Pointee,
        place: Option<Place<'_>>,
        source: &mut impl Source,
    ) -> Option<ReadObject> {
        let depth = place.map_or(DEPTH, |place| place.depth);
        let selector = byte(source, Choice::Pointer(pointee, place))?;
        let (more, depth) = match (Selector::of(selector), depth.checked_sub(1)) {
            (Selector::Fresh(more), Some(depth)) => (more, depth),
            (Selector::Earlier(back), _) => return Some(ReadObject::Earlier(back % REMEMBERED)),
            _ => return Some(ReadObject::Null),
        };
        let object = self.target(pointee);
        let row = self.array_layout(pointee, object);
        let place = |element| Place {
            object,
            element,
            offset: 0,
            depth,
        };
        if let Some(len) = row.at_once {
            let mut contents = vec![0; row.most * object.size];
            if len > 0 {
                let bytes = source.next(Choice::Bytes(place(0)), Some(len))?;
                contents.copy_from_slice(&bytes);
            }
            let element = |i| contents[i * object.size..(i + 1) * object.size].to_vec();
            let all = (0..row.most).map(|i| (element(i), Vec::new()));
            return Some(ReadObject::Fresh(all.collect()));
        }
        let all = (0..row.count(more)).map(|i| self.read_element(place(i), source));
        all.collect::<Option<_>>().map(ReadObject::Fresh)
    }

    /// Reads an element: its bytes, then its pointers, each with everything that it leads to.
    fn read_element(self, place: Place<'_>, source: &mut impl Source) -> Option<Element> {
        let plan = self.plan(place.object);
        let (mut contents, mut pointers) = (vec![0; place.object.size], Vec::new());
        for (offset, len) in plan.chosen {
            let bytes = source.next(Choice::Bytes(Place { offset, ..place }), Some(len))?;
            contents[offset..offset + len].copy_from_slice(&bytes);
        }
        for (offset, inner) in plan.pointers {
            let place = Place { offset, ..place };
            let read = match inner {
                Inner::Data(pointee) => self.read_pointer(pointee, Some(place), source)?,
                Inner::Code(_) if is_set(byte(source, Choice::Code(place))?) => ReadObject::Code,
                Inner::Code(_) => ReadObject::Null,
            };
            pointers.push((offset, read));
        }
        Some((contents, pointers))
    }
}

#[cfg(test)]
mod tests;
