//! How objects from outside stand on a channel: the grammar, once.
//!
//! Who reads a test's objects off a run, who looks for the numbers on a tape and who writes a
//! test's values down as bytes must meet the same choices in the same order as the C bodies do. So
//! there is one walk over the grammar, which asks a [`Source`] for each choice: the source answers
//! from bytes, from the choices of a run, or from values in memory ([`object`](crate::object())).
//! The walk knows what a choice decides, and gives what was read. The C bodies are made with the
//! constants and the [`Plan`] from here, and a test compares what they receive with what the walk
//! reads.
//!
//! A pointer is a byte, the *selector*: [`NULL`], [`FRESH`] or [`EARLIER`] modulo [`SORTS`], the
//! quotient says how many elements or which earlier object. Fresh elements follow, each as the
//! bytes between its pointers and then its pointers. A pointer to a function is a *flag*, a byte of
//! which one bit counts.

use std::borrow::Cow;

use super::{Holds, Inner, ObjectType, Pointee, Signature, Types};

/// Elements that an array from outside has at most, where the program indexes a pointer that came
/// from there.
pub const ELEMENTS: usize = 8;
/// Characters, where it is an array of single bytes.
pub const CHARACTERS: usize = 64;
/// How long a chain of fresh objects is at most: past it, pointers are NULL or lead back.
pub const DEPTH: usize = 8;
/// How often a function that is handed out is called back by one call.
pub const CALLS_BACK: usize = 2;
/// Pointers within one object that are followed; further ones are NULL.
pub const FOLLOWED: usize = 64;
/// The bit of a flag.
pub const SET: u8 = 1;

/// How many sorts of selectors there are.
pub(crate) const SORTS: u8 = 3;
/// The sort of a NULL pointer.
pub(crate) const NULL: u8 = 0;
/// The sort of a pointer to a fresh object.
pub(crate) const FRESH: u8 = 1;
/// The sort of a pointer to an object that was handed out before.
pub(crate) const EARLIER: u8 = 2;
/// How many objects of a type can be handed out again.
pub(crate) const REMEMBERED: u8 = 2;

/// What a selector says of a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// It is NULL.
    Null,
    /// It leads to fresh elements: how many more than one, where that is chosen.
    Fresh(u8),
    /// It leads to an object that was handed out before (or, for a plain mock, is an address): how
    /// many back.
    Earlier(u8),
}

impl Selector {
    /// What a byte says.
    pub const fn of(byte: u8) -> Selector {
        match byte % SORTS {
            NULL => Selector::Null,
            FRESH => Selector::Fresh(byte / SORTS),
            _ => Selector::Earlier(byte / SORTS),
        }
    }

    /// The byte that says it; a number that is too large for one is the largest.
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

/// How the bytes of an object stand on a channel: first the bytes between the pointers, then
/// pointer by pointer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan<'a> {
    /// Runs of bytes that are chosen: offset and length.
    pub chosen: Vec<(usize, usize)>,
    /// The pointers, by offset.
    pub pointers: Vec<(usize, Inner<'a>)>,
    /// Runs of pointers that are NULL, since there are too many: offset and length.
    pub null: Vec<(usize, usize)>,
}

/// How the fresh elements behind a pointer stand on a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// How many there are at most.
    pub most: usize,
    /// Whether their number is chosen. Where no element holds a pointer it is not: all that there
    /// may be are taken from the channel, zeros past its end, so that a search need not guess a
    /// length before it can look at an element.
    pub is_counted: bool,
    /// The bytes of all elements, where they are one choice; none are chosen of what the program
    /// cannot look into.
    pub at_once: Option<usize>,
}

impl Row {
    /// How many there are, by what the selector says.
    pub fn count(self, more: u8) -> usize {
        match self.is_counted {
            true => 1 + usize::from(more) % self.most,
            false => self.most,
        }
    }

    /// How many elements there is room for: characters from outside end in NUL.
    pub fn room(self) -> usize {
        match self.most {
            CHARACTERS => CHARACTERS + 1,
            most => most,
        }
    }
}

/// An object as it stood on a channel.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    /// NULL.
    Null,
    /// One that was handed out before: how many back.
    Earlier(u8),
    /// A function: the mock of this member.
    Code,
    /// Fresh elements.
    Fresh(Vec<Element>),
}

/// An element: its bytes, and its pointers by offset.
pub type Element = (Vec<u8>, Vec<(usize, Read)>);

/// A place in an object that is read.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The object's type.
    pub object: &'a ObjectType,
    /// The number of the element.
    pub element: usize,
    /// The offset in it.
    pub offset: usize,
    /// How many links its pointers may still lead on.
    pub depth: usize,
}

/// What a choice decides.
#[derive(Debug, Clone, Copy)]
pub enum Choice<'a> {
    /// Where a pointer leads: a selector. A result and an argument have no place.
    Pointer(&'a Pointee, Option<Place<'a>>),
    /// Whether this pointer to a function is set: a flag.
    Code(Place<'a>),
    /// Bytes of an object from this place on, or of all elements of a row.
    Bytes(Place<'a>),
    /// Whether something is written, or called: a flag.
    Whether,
    /// A number that is handed to a function.
    Value(&'a Holds),
    /// As many elements as the program asked for; of bytes if there is no type.
    Elements(Option<&'a ObjectType>),
}

/// Where the walk takes its choices from.
pub trait Source {
    /// The bytes of the next choice: so many, or where that is the program's matter as many as
    /// there are. `None` ends the walk.
    fn next(&mut self, choice: Choice<'_>, len: Option<usize>) -> Option<Cow<'_, [u8]>>;
}

/// The bytes of a channel; what is missing is zeros.
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

/// The choices of one channel, which keep their lengths: a walk ends where one does not fit.
impl Source for std::slice::Iter<'_, &[u8]> {
    fn next(&mut self, _: Choice<'_>, len: Option<usize>) -> Option<Cow<'_, [u8]>> {
        let next: &[u8] = Iterator::next(self)?;
        (len.is_none_or(|len| len == next.len())).then_some(Cow::Borrowed(next))
    }
}

/// What a call takes from one of its channels.
#[derive(Debug, Clone, Copy)]
pub enum Asked<'a> {
    /// Where its result leads.
    Result(&'a Pointee),
    /// Elements that it writes to where a parameter points, if it does.
    Elements(Option<&'a ObjectType>),
    /// An object that it writes there, if it does.
    Object(&'a ObjectType),
    /// What the function that is a parameter is called with, if it is: that function's type, and
    /// the type of what has it.
    Call(&'a Signature, &'a Signature),
}

/// What a call took from one of its channels.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<'a> {
    /// Its result.
    Result(Read),
    /// It writes nothing, or calls nothing.
    Nothing,
    /// It writes these bytes of elements.
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
    Object(Read),
}

/// How a parameter of a function that is called back gets its argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Handed<'a> {
    /// It is what stands beside the function, the parameter of that number from 0: `void *context`.
    Beside(usize),
    /// It is NULL.
    Null,
    /// It leads to an object from the channel.
    Object(&'a Pointee),
    /// It is on the channel.
    Value(&'a Holds),
}

impl Signature {
    /// What `callback`, a parameter, is called with.
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
    /// How objects of a type stand on a channel.
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

    /// How what a pointer leads to stands on a channel.
    pub fn row(self, pointee: &Pointee, object: &ObjectType) -> Row {
        let most = match (pointee.many, object.size) {
            (false, _) => 1,
            (true, 0 | 1) => CHARACTERS,
            (true, 2..=32) => ELEMENTS,
            (true, _) => ELEMENTS / 4,
        };
        let is_plain = self.plan(object).pointers.is_empty();
        let chosen = if object.opaque { 0 } else { object.size };
        Row {
            most,
            is_counted: most > 1 && !is_plain,
            at_once: (most > 1 && is_plain).then_some(most * chosen),
        }
    }

    /// Reads what one call takes from a channel.
    pub fn answer<'s>(self, asked: Asked<'s>, source: &mut impl Source) -> Option<Answer<'s>> {
        if let Asked::Result(pointee) = asked {
            return self.read(pointee, source).map(Answer::Result);
        }
        if !is_set(byte(source, Choice::Whether)?) {
            return Some(Answer::Nothing);
        }
        Some(match asked {
            Asked::Result(pointee) => Answer::Result(self.read(pointee, source)?),
            Asked::Elements(object) => {
                let bytes = source.next(Choice::Elements(object), None)?;
                Answer::Elements(bytes.into_owned())
            }
            Asked::Object(object) => Answer::Object(self.read_object(object, source)?),
            Asked::Call(callback, of) => {
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
                Answer::Call(arguments)
            }
        })
    }

    /// Reads a pointer.
    pub fn read(self, pointee: &Pointee, source: &mut impl Source) -> Option<Read> {
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
    ) -> Option<Read> {
        let depth = place.map_or(DEPTH, |place| place.depth);
        let selector = byte(source, Choice::Pointer(pointee, place))?;
        let (more, depth) = match (Selector::of(selector), depth.checked_sub(1)) {
            (Selector::Fresh(more), Some(depth)) => (more, depth),
            (Selector::Earlier(back), _) => return Some(Read::Earlier(back % REMEMBERED)),
            _ => return Some(Read::Null),
        };
        let object = self.target(pointee);
        let row = self.row(pointee, object);
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
            return Some(Read::Fresh(all.collect()));
        }
        let all = (0..row.count(more)).map(|i| self.read_element(place(i), source));
        all.collect::<Option<_>>().map(Read::Fresh)
    }

    /// Its bytes, then its pointers, each with all that it leads to.
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
                Inner::Code(_) if is_set(byte(source, Choice::Code(place))?) => Read::Code,
                Inner::Code(_) => Read::Null,
            };
            pointers.push((offset, read));
        }
        Some((contents, pointers))
    }
}

#[cfg(test)]
mod tests;
