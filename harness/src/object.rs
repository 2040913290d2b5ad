//! Objects from outside, as structure literals that point to one another.
//!
//! The fault of a driver often lies behind two or three pointers: an interface, its endpoints,
//! their addresses. Gennari et al. (*Executable Counterexamples*, section 5, figure 9) rewrote such
//! drivers by hand. Here a test describes the device in the program's own structures, as
//! [`c_structs!`](crate::c_structs) or bindgen define them:
//!
//! ```no_run
//! # use cegar_harness::*;
//! # c_structs! { struct endpoint { address: u8 } struct interface { ep: *mut endpoint, count: u32 } }
//! Mock::new("usb").returns_object("usb_get_interface", interface {
//!     ep: objects([endpoint { address: 0x81 }, endpoint { address: 0x82 }]),
//!     count: 2,
//! });
//! ```
//!
//! The pointers are real ones, to memory that is never freed, so they can be stored in any
//! `#[repr(C)]` structure. The C code's types say which of the bytes are pointers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::external::codec::{Choice, DEPTH, Place, REMEMBERED, SET, Selector, Source};
use crate::external::{ObjectType, Pointee, Types};

/// The targets of the pointers that were made, by address: the number of elements and the size of
/// one in bytes.
static MADE: Mutex<BTreeMap<usize, (usize, usize)>> = Mutex::new(BTreeMap::new());

/// Addresses that stand for objects that were handed out before, and for the function of a member.
static MARKS: [u8; CODE + 1] = [0; CODE + 1];
/// The index of the mark that stands for the function.
const CODE: usize = REMEMBERED as usize;

/// A pointer to an object with these contents.
pub fn object<T: Copy>(value: T) -> *mut T {
    objects([value])
}

/// A pointer to an array of objects; the elements after them are zeros.
pub fn objects<T: Copy>(values: impl IntoIterator<Item = T>) -> *mut T {
    let values: Vec<T> = values.into_iter().collect();
    let count = values.len();
    let row = Vec::leak(values).as_mut_ptr();
    MADE.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(row as usize, (count, size_of::<T>()));
    row
}

/// A pointer to elements of `size` bytes each, as [`objects`] makes them.
#[cfg(test)]
pub(crate) fn made_of(bytes: Vec<u8>, size: usize) -> usize {
    let count = bytes.len().checked_div(size).unwrap_or(1);
    // One extra byte, so that no two of them have the same address.
    let row = Vec::leak([&bytes[..], &[0]].concat()).as_ptr() as usize;
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.insert(row, (count, size));
    row
}

/// A pointer to characters, or to other bytes.
pub fn text(bytes: impl AsRef<[u8]>) -> *mut u8 {
    objects(bytes.as_ref().iter().copied())
}

/// A pointer to an object of this type that was handed out before: 0 is the latest, 1 the previous
/// one.
pub fn earlier<T>(back: u8) -> *mut T {
    MARKS
        .as_ptr()
        .wrapping_add(usize::from(back.min(REMEMBERED - 1)))
        .cast_mut()
        .cast()
}

/// A pointer to a function: a mock whose answers are on the member's own channel, as in
/// `.returns("ops.open", [-5])`.
pub fn code<T>() -> *mut T {
    MARKS.as_ptr().wrapping_add(CODE).cast_mut().cast()
}

/// Why a structure cannot be what a function returns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It has another size than the C type.
    #[error("`{name}` has {expected} bytes, not {found}")]
    Size {
        /// The C type.
        name: String,
        /// Its size.
        expected: usize,
        /// The size of the value in the test.
        found: usize,
    },
    /// There are too many elements.
    #[error("an array from outside has at most {most} elements, not {found}")]
    Count {
        /// The maximal number of elements.
        most: usize,
        /// The number of elements in the test.
        found: usize,
    },
    /// A pointer was not made by the functions of this module.
    #[error(
        "the pointer at byte {offset} of `{name}` was not made with object(), objects(), earlier() \
         or code()"
    )]
    Pointer {
        /// The C type.
        name: String,
        /// Its offset in the C type.
        offset: usize,
    },
    /// The chain of objects that point to one another is too long.
    #[error("a chain of objects from outside has at most {DEPTH} links")]
    Depth,
}

/// The bytes of values, including the current bytes of their padding.
pub(crate) fn bytes_of<T: Copy>(values: &[T]) -> Vec<u8> {
    let mut bytes = vec![0u8; size_of_val(values)];
    // SAFETY: the destination is as long as `values`, and the two do not overlap.
    unsafe { copy(&mut bytes, values.as_ptr().cast()) };
    bytes
}

/// Fills `into` from memory. A foreign function that the compiler cannot see through makes the
/// copy, so that padding keeps whatever bytes it holds.
///
/// # Safety
/// `into.len()` bytes must be readable at `from`.
unsafe fn copy(into: &mut [u8], from: *const u8) {
    let copy = std::hint::black_box(libc::memcpy as unsafe extern "C" fn(_, _, _) -> _);
    // SAFETY: `from` is readable by the contract; `into` is a live slice and does not overlap it.
    unsafe { copy(into.as_mut_ptr().cast(), from.cast(), into.len()) };
}

/// Encodes fresh elements of `size` bytes each as bytes of a channel.
pub(crate) fn encode(
    types: Types<'_>,
    pointee: &Pointee,
    bytes: Vec<u8>,
    size: usize,
) -> Result<Vec<u8>, Mismatch> {
    let mut memory = MemorySource::new(types, Some((bytes, size)), Vec::new());
    types.read(pointee, &mut memory);
    memory.out
}

/// Encodes an object itself as bytes of a channel.
pub(crate) fn encode_object(
    types: Types<'_>,
    object: &ObjectType,
    bytes: Vec<u8>,
) -> Result<Vec<u8>, Mismatch> {
    let mut memory = MemorySource::new(types, None, bytes);
    types.read_object(object, &mut memory);
    memory.out
}

/// Values in memory as a source of choices. It records what the walk over the grammar reads.
struct MemorySource<'t> {
    types: Types<'t>,
    /// The elements behind the pointer that is not part of an object, and the size of one element.
    root: Option<(Vec<u8>, usize)>,
    /// The objects that are being read, by the number of links that lead to them.
    objects: Vec<Vec<u8>>,
    out: Result<Vec<u8>, Mismatch>,
}

impl<'t> MemorySource<'t> {
    fn new(types: Types<'t>, root: Option<(Vec<u8>, usize)>, object: Vec<u8>) -> Self {
        MemorySource {
            types,
            root,
            objects: vec![object],
            out: Ok(Vec::new()),
        }
    }

    /// The bytes at a place, with zeros past the end.
    fn bytes(&mut self, place: Place<'_>, len: usize) -> Vec<u8> {
        // Objects of deeper levels are already read completely.
        self.objects.truncate(DEPTH - place.depth + 1);
        let at = place.element * place.object.size + place.offset;
        let held = self.objects.last().and_then(|bytes| bytes.get(at..));
        let mut bytes = held.unwrap_or_default().to_vec();
        bytes.resize(len, 0);
        bytes
    }

    fn address(&mut self, place: Place<'_>) -> usize {
        let bytes = self.bytes(place, size_of::<usize>());
        bytes
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | usize::from(*byte))
    }

    /// The selector of a pointer.
    fn selector(
        &mut self,
        pointee: &Pointee,
        place: Option<Place<'_>>,
    ) -> Result<Selector, Mismatch> {
        let (bytes, size) = match (place, self.root.take()) {
            (None, root) => root.unwrap_or_default(),
            (Some(place), _) => {
                let address = self.address(place);
                let marks = MARKS.as_ptr() as usize;
                if address == 0 {
                    return Ok(Selector::Null);
                }
                if (marks..marks + CODE).contains(&address) {
                    return Ok(Selector::Earlier((address - marks) as u8));
                }
                if place.depth == 0 {
                    return Err(Mismatch::Depth);
                }
                made(address).ok_or_else(|| Mismatch::Pointer {
                    name: place.object.name.clone(),
                    offset: place.offset,
                })?
            }
        };
        let object = self.types.target(pointee);
        let row = self.types.array_layout(pointee, object);
        let untyped = pointee.to.is_none() || object.is_bytes();
        let fits = object.opaque || size == object.size || untyped && size <= object.size;
        if !fits {
            return Err(Mismatch::Size {
                name: object.name.clone(),
                expected: object.size,
                found: size,
            });
        }
        // Untyped memory counts as one element, whatever the test composes it of.
        let count = match bytes.len().checked_div(size) {
            Some(count) if !untyped => count.max(1),
            _ => 1,
        };
        if count > row.most {
            return Err(Mismatch::Count {
                most: row.most,
                found: count,
            });
        }
        self.objects.push(bytes);
        Ok(Selector::Fresh(if row.is_counted {
            (count - 1) as u8
        } else {
            0
        }))
    }
}

impl Source for MemorySource<'_> {
    fn next(&mut self, choice: Choice<'_>, len: Option<usize>) -> Option<Cow<'_, [u8]>> {
        let bytes = match choice {
            Choice::Pointer(pointee, place) => match self.selector(pointee, place) {
                Ok(selector) => vec![selector.byte()],
                Err(why) => {
                    self.out = Err(why);
                    return None;
                }
            },
            Choice::Code(place) => vec![if self.address(place) == 0 { 0 } else { SET }],
            Choice::Bytes(place) => self.bytes(place, len?),
            Choice::Whether | Choice::Value(_) | Choice::Elements(_) => return None,
        };
        if let Ok(out) = &mut self.out {
            out.extend_from_slice(&bytes);
        }
        Some(Cow::Owned(bytes))
    }
}

/// The bytes that a pointer leads to, and the size of an element; none if the pointer was not made
/// here.
fn made(address: usize) -> Option<(Vec<u8>, usize)> {
    let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let (count, size) = made.get(&address).copied()?;
    let mut bytes = vec![0; count * size];
    // SAFETY: `objects` leaked this number of bytes at this address, and nothing writes to them
    // while the test builds its mock.
    unsafe { copy(&mut bytes, address as *const u8) };
    Some((bytes, size))
}

/// Defines structures of the C code in Rust. Their default is all zeros, for `config { name_len:
/// 17, ..zeroed() }`.
#[macro_export]
macro_rules! c_structs {
    ($($(#[$meta:meta])* struct $name:ident { $($field:ident: $kind:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        #[allow(non_camel_case_types, non_snake_case, dead_code)]
        pub struct $name { $(pub $field: $kind),* }

        impl Default for $name {
            fn default() -> Self {
                // SAFETY: all zeros is a valid value of numbers, truth values, raw pointers and
                // arrays of them.
                unsafe { std::mem::zeroed() }
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external::codec::ReadObject;
    use crate::external::{Holds, Member};

    crate::c_structs! {
        struct endpoint { address: u8, attributes: u8, max_packet: u16 }
        struct interface { ep: *mut endpoint, count: u32, next: *mut interface }
    }

    fn types() -> Vec<ObjectType> {
        let to = |name: &str, many| {
            Holds::Pointer(Pointee {
                to: Some(name.to_owned()),
                many,
                constant: false,
            })
        };
        let member = |name: &str, offset, holds| Member {
            name: name.to_owned(),
            offset,
            holds,
        };
        let named = |name: &str, size, members| ObjectType {
            name: name.to_owned(),
            size,
            members,
            opaque: false,
        };
        vec![
            named("endpoint", 4, vec![member("all", 0, Holds::Bytes(4))]),
            named(
                "interface",
                24,
                vec![
                    member("ep", 0, to("endpoint", true)),
                    member("count", 8, Holds::Bytes(4)),
                    member("next", 16, to("interface", false)),
                ],
            ),
        ]
    }

    #[test]
    fn structures_are_written_and_read_back() {
        let types = types();
        let types = Types(&types);
        let pointee = Pointee {
            to: Some("interface".to_owned()),
            many: false,
            constant: false,
        };
        let value = interface {
            ep: objects([
                endpoint {
                    address: 0x81,
                    ..Default::default()
                },
                Default::default(),
            ]),
            count: 2,
            next: earlier(0),
        };
        let bytes = encode(types, &pointee, bytes_of(&[value]), 24).expect("it fits");
        // The selector, the count with its padding, an array of endpoints, and the object itself.
        assert_eq!(bytes.len(), 1 + 8 + 1 + 8 * 4 + 1);
        let mut rest = &bytes[..];
        let Some(ReadObject::Fresh(all)) = types.read(&pointee, &mut rest) else {
            panic!("{bytes:?}")
        };
        assert!(rest.is_empty());
        assert_eq!(all[0].0[8], 2);
        assert_eq!(all[0].1[1].1, ReadObject::Earlier(0));
        match &all[0].1[0].1 {
            ReadObject::Fresh(row) => {
                assert_eq!((row.len(), row[0].0[0], row[1].0[0]), (8, 0x81, 0))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let types = types();
        let pointee = Pointee {
            to: Some("endpoint".to_owned()),
            many: false,
            constant: false,
        };
        let wrong = encode(Types(&types), &pointee, vec![0; 8], 8);
        assert!(
            matches!(wrong, Err(Mismatch::Size { expected: 4, .. })),
            "{wrong:?}"
        );
        let mut stray = 0u8;
        let object = types.get(1).expect("an interface");
        let value = interface {
            ep: (&raw mut stray).cast(),
            ..Default::default()
        };
        let found = encode_object(Types(&types), object, bytes_of(&[value]));
        assert!(
            matches!(found, Err(Mismatch::Pointer { offset: 0, .. })),
            "{found:?}"
        );
    }

    #[test]
    fn a_chain_ends() {
        let types = types();
        let pointee = Pointee {
            to: Some("interface".to_owned()),
            many: false,
            constant: false,
        };
        let chain = |links| {
            (1..links).fold(interface::default(), |next, _| interface {
                next: object(next),
                ..Default::default()
            })
        };
        let encoded = |links| encode(Types(&types), &pointee, bytes_of(&[chain(links)]), 24);
        assert!(encoded(DEPTH).is_ok());
        assert_eq!(encoded(DEPTH + 1), Err(Mismatch::Depth));
    }
}
