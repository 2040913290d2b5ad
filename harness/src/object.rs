//! Objects from outside, as structure literals that point to one another.
//!
//! A driver's fault often lies behind two or three pointers: an interface, its endpoints, their
//! addresses. Gennari et al. (*Executable Counterexamples*, section 5, figure 9) rewrote such
//! drivers by hand. Here a test says what the device looks like, in the program's own structures,
//! as [`c_structs!`](crate::c_structs) or bindgen define them:
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
//! The pointers are real ones, to memory that stays as long as the test's process does; that is
//! what lets them stand in any `#[repr(C)]` structure. Which of the bytes are pointers is known
//! from the C code.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::external::{Inner, ObjectType, Pointee, Types, most};

/// What the pointers that were made lead to: by address, how many elements of how many bytes.
static MADE: Mutex<BTreeMap<usize, (usize, usize)>> = Mutex::new(BTreeMap::new());

/// Stand for objects that were handed out before, and for the function of a member.
static MARKS: [u8; 3] = [0; 3];

/// A pointer to an object with these contents.
pub fn object<T: Copy>(value: T) -> *mut T {
    objects([value])
}

/// A pointer to several objects in a row; behind them there are zeros.
pub fn objects<T: Copy>(values: impl IntoIterator<Item = T>) -> *mut T {
    let values: Vec<T> = values.into_iter().collect();
    let count = values.len();
    let row = Vec::leak(values).as_mut_ptr();
    MADE.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(row as usize, (count, size_of::<T>()));
    row
}

/// A pointer to characters, or to other bytes.
pub fn text(bytes: impl AsRef<[u8]>) -> *mut u8 {
    objects(bytes.as_ref().iter().copied())
}

/// A pointer to an object of this type that was handed out before: 0 is the latest, 1 the one
/// before it.
pub fn earlier<T>(back: u8) -> *mut T {
    MARKS
        .as_ptr()
        .wrapping_add(usize::from(back.min(1)))
        .cast_mut()
        .cast()
}

/// A function: a mock whose answers are on the member's own channel, as in `.returns("ops.open",
/// [-5])`.
pub fn code<T>() -> *mut T {
    MARKS.as_ptr().wrapping_add(2).cast_mut().cast()
}

/// Why a structure cannot be what a function returns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Another size than the C type.
    #[error("`{name}` has {expected} bytes, not {found}")]
    Size {
        /// The C type.
        name: String,
        /// Its size.
        expected: usize,
        /// The size of what the test says.
        found: usize,
    },
    /// Too many elements.
    #[error("an array from outside has at most {most} elements, not {found}")]
    Count {
        /// How many there may be.
        most: usize,
        /// How many there are.
        found: usize,
    },
    /// A pointer of unknown origin.
    #[error(
        "the pointer at byte {offset} of `{name}` was not made with object(), objects(), earlier() or code()"
    )]
    Pointer {
        /// The C type.
        name: String,
        /// Where in it.
        offset: usize,
    },
    /// The description is incomplete.
    #[error("nothing is known of the type that it points to")]
    Unknown,
}

/// The bytes of values, padding as it happens to be.
pub(crate) fn bytes_of<T: Copy>(values: &[T]) -> Vec<u8> {
    let mut bytes = vec![0u8; size_of_val(values)];
    // SAFETY: both are as long as `values`, and do not overlap.
    unsafe { copy(&mut bytes, values.as_ptr().cast()) };
    bytes
}

/// Fills `into` from memory. The copy is made by a foreign function that the compiler cannot see
/// through, so that padding arrives as the bytes that it happens to hold.
///
/// # Safety
/// As many bytes as `into` has must be readable at `from`.
unsafe fn copy(into: &mut [u8], from: *const u8) {
    let copy = std::hint::black_box(libc::memcpy as unsafe extern "C" fn(_, _, _) -> _);
    // SAFETY: the caller's promise; `into` is a live slice and cannot overlap what is only read.
    unsafe { copy(into.as_mut_ptr().cast(), from.cast(), into.len()) };
}

/// The bytes of a channel for fresh elements of `size` bytes each.
pub(crate) fn encode(
    types: Types<'_>,
    pointee: &Pointee,
    bytes: &[u8],
    size: usize,
) -> Result<Vec<u8>, Mismatch> {
    let object = types.target(pointee).ok_or(Mismatch::Unknown)?;
    let count = bytes.len().checked_div(size).unwrap_or(1).max(1);
    let (fits, most) = (fits(object, pointee, size), most(pointee, object));
    if !fits {
        return Err(Mismatch::Size {
            name: object.name.clone(),
            expected: object.size,
            found: size,
        });
    }
    // Untyped memory is one element, however the test puts it together.
    let (count, size) = if pointee.to.is_none() || object.is_bytes() {
        (1, bytes.len())
    } else {
        (count, size)
    };
    if count > most {
        return Err(Mismatch::Count { most, found: count });
    }
    let counted = types.counted(pointee, object);
    let mut out = vec![if counted {
        (1 + 3 * (count - 1)) as u8
    } else {
        1
    }];
    for i in 0..if counted { count } else { most } {
        let element = bytes.get(i * size..(i + 1) * size);
        let mut element = element.unwrap_or_default().to_vec();
        element.resize(object.size, 0);
        out.extend(encode_element(types, object, &element)?);
    }
    Ok(out)
}

/// Untyped memory takes anything that is short enough.
fn fits(object: &ObjectType, pointee: &Pointee, size: usize) -> bool {
    let untyped = pointee.to.is_none() || object.is_bytes();
    object.opaque || size == object.size || untyped && size <= object.size
}

/// The bytes of a channel for an object itself.
pub(crate) fn encode_element(
    types: Types<'_>,
    object: &ObjectType,
    element: &[u8],
) -> Result<Vec<u8>, Mismatch> {
    let mut out = Vec::new();
    let plan = types.plan(object);
    for (at, length) in &plan.chosen {
        out.extend_from_slice(&element[*at..at + length]);
    }
    for (at, inner) in &plan.pointers {
        let mut word = [0; 8];
        word.copy_from_slice(&element[*at..at + 8]);
        let address = usize::from_le_bytes(word);
        let unknown = || Mismatch::Pointer {
            name: object.name.clone(),
            offset: *at,
        };
        match inner {
            Inner::Code(_) => out.push(u8::from(address != 0)),
            Inner::Data(pointee) => {
                out.extend(encode_pointer(types, pointee, address)?.ok_or_else(unknown)?);
            }
        }
    }
    Ok(out)
}

/// The bytes of a channel for a pointer; none if its target is unknown.
pub(crate) fn encode_pointer(
    types: Types<'_>,
    pointee: &Pointee,
    address: usize,
) -> Result<Option<Vec<u8>>, Mismatch> {
    let marks = MARKS.as_ptr() as usize;
    if address == 0 {
        return Ok(Some(vec![0]));
    }
    if (marks..marks + 2).contains(&address) {
        return Ok(Some(vec![2 + 3 * (address - marks) as u8]));
    }
    let made = MADE
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&address)
        .copied();
    let Some((count, size)) = made else {
        return Ok(None);
    };
    let mut bytes = vec![0; count * size];
    // SAFETY: `objects` leaked that many bytes at this address, and nothing writes there while the
    // test builds its mock.
    unsafe { copy(&mut bytes, address as *const u8) };
    encode(types, pointee, &bytes, size).map(Some)
}

/// Defines structures of the C code in Rust, all zeros by default: for `config { name_len: 17,
/// ..zeroed() }`.
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
                // SAFETY: of numbers, truth values, pointers and rows of them, all zeros is a
                // value.
                unsafe { std::mem::zeroed() }
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external::{Holds, Member, Read};

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
        let bytes = encode(types, &pointee, &bytes_of(&[value]), 24).expect("it fits");
        // The selector, the count with its padding, a row of endpoints, and the object itself.
        assert_eq!(bytes.len(), 1 + 8 + 1 + 8 * 4 + 1);
        let (read, rest) = types.read(&pointee, &bytes);
        assert!(rest.is_empty());
        let Read::Fresh(all) = read else {
            panic!("{read:?}")
        };
        assert_eq!(all[0].0[8], 2);
        assert_eq!(all[0].1[1].1, Read::Earlier(0));
        match &all[0].1[0].1 {
            Read::Fresh(row) => assert_eq!((row.len(), row[0].0[0], row[1].0[0]), (8, 0x81, 0)),
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
        let wrong = encode(Types(&types), &pointee, &[0; 8], 8);
        assert!(
            matches!(wrong, Err(Mismatch::Size { expected: 4, .. })),
            "{wrong:?}"
        );
        let mut stray = 0u8;
        let found = encode_pointer(Types(&types), &pointee, &raw mut stray as usize);
        assert_eq!(found, Ok(None));
    }
}
