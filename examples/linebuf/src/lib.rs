//! Reads logical lines from any reader: comments are dropped, and a line that ends with a backslash
//! continues on the next line.
//!
//! ```
//! use linebuf::Lines;
//!
//! let text = "name = demo # not this\nfiles = a \\\n  b\n";
//! let lines: Result<Vec<_>, _> = Lines::new(text.as_bytes()).collect();
//! assert_eq!(lines?[1].text, b"files = a    b");
//! # Ok::<(), linebuf::TooLong>(())
//! ```

use std::ffi::{c_int, c_void};
use std::fmt;
use std::io::{BufReader, Bytes, Read};

#[allow(non_camel_case_types, dead_code, missing_docs)]
mod sys {
    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
}

/// A logical line and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of the physical line that it began on, from 1.
    pub number: u32,
    /// Its characters.
    pub text: Vec<u8>,
}

/// The error for a line that is longer than the library supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The number of the physical line that it began on, from 1.
    pub number: u32,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {} is longer than {} characters",
            self.number,
            sys::LINEBUF_SIZE - 1
        )
    }
}

impl std::error::Error for TooLong {}

/// An iterator over the lines of a reader. A read error is treated as the end of the input.
pub struct Lines<R> {
    raw: sys::linebuf,
    bytes: Bytes<BufReader<R>>,
}

impl<R: Read> Lines<R> {
    /// Creates the iterator. The settings come from the environment, see `linebuf.h`.
    pub fn new(reader: R) -> Self {
        // SAFETY: `linebuf` is a C struct of integers, a nullable function pointer and a raw
        // pointer; all of them may be zero.
        let mut raw: sys::linebuf = unsafe { std::mem::zeroed() };
        // SAFETY: `raw` is valid for writes; the source is not called before `next` sets its
        // context.
        unsafe { sys::linebuf_init(&mut raw, Some(next_byte::<R>), std::ptr::null_mut()) };
        Self {
            raw,
            bytes: BufReader::new(reader).bytes(),
        }
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = Result<Line, TooLong>;

    fn next(&mut self) -> Option<Self::Item> {
        self.raw.context = (&raw mut self.bytes).cast();
        // SAFETY: `raw` was initialised in `new`, its source is `next_byte::<R>`, and its context
        // is the `Bytes<BufReader<R>>` of this iterator, which nothing else uses during the call.
        let answer = unsafe { sys::linebuf_next(&mut self.raw) };
        let number = self.raw.number;
        match answer {
            sys::LINEBUF_LINE => {
                let length = self.raw.length as usize;
                let text = self
                    .raw
                    .text
                    .iter()
                    .take(length)
                    .map(|&c| c as u8)
                    .collect();
                Some(Ok(Line { number, text }))
            }
            sys::LINEBUF_TOO_LONG => Some(Err(TooLong { number })),
            _ => None,
        }
    }
}

/// # Safety
///
/// `context` points to a `Bytes<BufReader<R>>` that nothing else uses during the call.
unsafe extern "C" fn next_byte<R: Read>(context: *mut c_void) -> c_int {
    // SAFETY: guaranteed by the caller (see `# Safety`).
    let bytes = unsafe { &mut *context.cast::<Bytes<BufReader<R>>>() };
    match bytes.next() {
        Some(Ok(byte)) => c_int::from(byte),
        _ => -1,
    }
}
