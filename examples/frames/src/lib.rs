//! Decodes frames from a stream that arrives in pieces of any size.
//!
//! ```
//! use frames::Decoder;
//!
//! let mut decoder = Decoder::new(1, b';', 16)?;
//! assert_eq!(decoder.feed(b"one;tw")?, 1);
//! assert_eq!(decoder.feed(b"o;rest")?, 1);
//! assert_eq!(decoder.finish()?, b"rest");
//! # Ok::<(), frames::Error>(())
//! ```

use std::ffi::c_int;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

mod sys {
    use std::ffi::c_int;

    unsafe extern "C" {
        pub fn frames_open(version: c_int) -> c_int;
        pub fn frames_configure(decoder: c_int, mark: c_int, limit: c_int) -> c_int;
        pub fn frames_feed(decoder: c_int, piece: *const u8, size: usize) -> c_int;
        pub fn frames_finish(decoder: c_int, out: *mut u8, capacity: usize) -> c_int;
        pub fn frames_close(decoder: c_int) -> c_int;
    }
}

/// The errors of the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The library does not support the request.
    Refused,
    /// A frame is longer than the configured limit.
    TooLong,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Refused => "refused",
            Error::TooLong => "a frame is too long",
        })
    }
}

impl std::error::Error for Error {}

/// Collects pieces into frames.
#[derive(Debug)]
pub struct Decoder {
    number: c_int,
}

impl Decoder {
    /// Opens a decoder for a version of the format. `mark` ends a frame; `limit` is the maximum
    /// length of a frame.
    pub fn new(version: u8, mark: u8, limit: u8) -> Result<Decoder, Error> {
        let table = table();
        // SAFETY: the function takes any number, and no other thread opens or closes a decoder.
        let number = checked(unsafe { sys::frames_open(version.into()) })?;
        drop(table);
        let decoder = Decoder { number };
        // SAFETY: the decoder is open.
        checked(unsafe { sys::frames_configure(number, mark.into(), limit.into()) })?;
        Ok(decoder)
    }

    /// Takes a piece of the stream. Returns the number of frames that it completed.
    pub fn feed(&mut self, piece: &[u8]) -> Result<usize, Error> {
        // SAFETY: the length is that of the slice.
        let frames = unsafe { sys::frames_feed(self.number, piece.as_ptr(), piece.len()) };
        checked(frames).map(|frames| frames as usize)
    }

    /// Ends the stream. Returns the bytes after the last mark.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; 64];
        // SAFETY: the capacity is that of the vector.
        let used = unsafe { sys::frames_finish(self.number, out.as_mut_ptr(), out.len()) };
        out.truncate(checked(used)? as usize);
        Ok(out)
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        let _table = table();
        // SAFETY: the decoder is open; it is closed once, and no other thread opens or closes one.
        unsafe { sys::frames_close(self.number) };
    }
}

/// Locks the library's table of decoders. Only one thread at a time may open or close a decoder.
fn table() -> MutexGuard<'static, ()> {
    static TABLE: Mutex<()> = Mutex::new(());
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn checked(result: c_int) -> Result<c_int, Error> {
    match result {
        -2 => Err(Error::TooLong),
        ..0 => Err(Error::Refused),
        result => Ok(result),
    }
}
