//! The encodings of the bytes on a channel.
//!
//! Everything that a C program learns from outside is a sequence of bytes, divided into *channels*
//! by who asked for them. The channel determines what the bytes mean: streams carry end of file
//! with an escape, strings can be absent, integers are little-endian, a returned pointer starts
//! with a selector. [`Mock`](crate::Mock) writes these encodings and the emitter of tests reads
//! them. Both use this module, so that they cannot disagree.

use serde::{Deserialize, Serialize};

/// The escape byte of a stream: `FF 00` is end of file, `FF xx` the character 0xFF. In input
/// streams (stdin and files), `FF 01` is a read error, followed by the error number, and `FF 02`
/// ends a read early; the rest is read by later calls.
const ESCAPE: u8 = 0xFF;

/// A piece of an input stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Characters.
    Text(Vec<u8>),
    /// A read that fails with this error.
    Fails(u8),
    /// A read ends early here, with fewer characters than were asked for.
    Short,
    /// The end of the file. Further pieces may follow.
    End,
}

/// A read error of an input stream.
pub fn encode_fault(error: u8) -> [u8; 3] {
    [ESCAPE, 1, error]
}

/// The mark that ends a read of an input stream early.
pub fn encode_short() -> [u8; 2] {
    [ESCAPE, 2]
}

/// The pieces of an input stream, up to the end of the file.
pub fn pieces(bytes: &[u8]) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut text = Vec::new();
    let mut bytes = bytes.iter().copied();
    while let Some(byte) = bytes.next() {
        let piece = match byte {
            ESCAPE => match bytes.next().unwrap_or(0) {
                0 => Piece::End,
                1 => Piece::Fails(bytes.next().unwrap_or(0)),
                2 => Piece::Short,
                _ => {
                    text.push(ESCAPE);
                    continue;
                }
            },
            byte => {
                text.push(byte);
                continue;
            }
        };
        if !text.is_empty() {
            out.push(Piece::Text(std::mem::take(&mut text)));
        }
        if piece == Piece::End {
            return out;
        }
        out.push(piece);
    }
    if !text.is_empty() {
        out.push(Piece::Text(text));
    }
    out
}

/// The byte for a call that fails with this error. Functions of the stub library that can fail take
/// it from the channel of their name. Zero is a call that succeeds.
pub fn encode_refusal(error: u8) -> u8 {
    REFUSED | error
}

/// The bit that marks a call that fails.
pub const REFUSED: u8 = 0x80;

/// The functions whose channels hold one byte per call, which says whether the call fails. For a
/// short read or write, the byte is followed by a count.
pub const REFUSING: &[&str] = &[
    "access",
    "chdir",
    "chmod",
    "chown",
    "close",
    "closedir",
    "dup",
    "dup2",
    "fchmod",
    "fclose",
    "fflush",
    "flock",
    "fopen",
    "fseek",
    "fstat",
    "fsync",
    "ftruncate",
    "fwrite",
    "getcwd",
    "getentropy",
    "getrandom",
    "link",
    "lockf",
    "mkdir",
    "open",
    "opendir",
    "output",
    "pipe",
    "pthread_key_create",
    "readdir",
    "realpath",
    "remove",
    "rename",
    "rmdir",
    "setrlimit",
    "setsid",
    "stat",
    "symlink",
    "unlink",
    "usleep",
    "utime",
    "utimes",
    "write",
];

/// The encoding of a channel's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Shape {
    /// Nothing is read.
    Void,
    /// Integers of `size` bytes, little-endian.
    Int {
        /// Bytes per value.
        size: usize,
        /// Whether the values are signed.
        #[serde(default = "yes")]
        signed: bool,
    },
    /// Truth values: the lowest bit of one byte.
    Bool,
    /// Floating point numbers of `size` bytes.
    Float {
        /// 4 or 8.
        size: usize,
    },
    /// Pointers: a selector, then the bytes of an object of `size` or an address.
    Pointer {
        /// Bytes of the object pointed to; 0 if unknown (64 are used).
        #[serde(default)]
        size: usize,
    },
    /// Structures returned by value: `size` bytes.
    Struct {
        /// Bytes per value.
        size: usize,
    },
    /// Characters with an escape for end of file.
    Stream,
    /// A presence byte, then a stream up to NUL or end of file.
    OptionalString,
    /// A stream up to NUL or end of file.
    String,
    /// A presence byte (whether the file can be opened), then a stream.
    File,
    /// Unstructured bytes.
    Raw,
}

fn yes() -> bool {
    true
}

impl Shape {
    /// The shape of a channel that the stub library reads itself; `None` for the program's own
    /// external functions.
    pub fn of_stub(channel: &str) -> Option<Shape> {
        let int = |size, signed| Some(Shape::Int { size, signed });
        if let Some((family, _)) = channel.split_once(':') {
            match family {
                "env" => return Some(Shape::OptionalString),
                "argv" => return Some(Shape::String),
                "file" => return Some(Shape::File),
                _ => {}
            }
        }
        let name = channel
            .strip_prefix("__VERIFIER_nondet_")
            .unwrap_or(channel);
        match name {
            "stdin" | "string" => Some(Shape::Stream),
            "data" | "bytes" | "memory" | "rand" | "range" => Some(Shape::Raw),
            "bool" | "_Bool" => Some(Shape::Bool),
            "char" | "schar" | "s8" | "int8" => int(1, true),
            "byte" | "uchar" | "unsigned_char" | "argc" | "u8" | "uint8" => int(1, false),
            "short" | "s16" | "int16" => int(2, true),
            "ushort" | "u16" | "uint16" => int(2, false),
            "int" | "s32" | "int32" => int(4, true),
            "uint" | "unsigned" | "u32" | "uint32" | "time" | "clock" | "drand48" | "sector_t" => {
                int(4, false)
            }
            "pthread_t" => int(4, false),
            "long" | "longlong" | "s64" | "int64" | "loff_t" | "off_t" | "ssize_t" => int(8, true),
            "ulong" | "ulonglong" | "u64" | "uint64" | "size_t" | "size" => int(8, false),
            "int128" => int(16, true),
            "uint128" => int(16, false),
            "float" => Some(Shape::Float { size: 4 }),
            "double" => Some(Shape::Float { size: 8 }),
            "pointer" | "pchar" => Some(Shape::Pointer { size: 0 }),
            _ => None,
        }
    }
}

/// Encodes characters as a stream. The end of the queue is end of file, so no mark is written.
pub fn encode_stream(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        out.push(byte);
        if byte == ESCAPE {
            out.push(ESCAPE);
        }
    }
    out
}

/// The characters of a stream, up to end of file.
pub fn decode_stream(bytes: &[u8]) -> Vec<u8> {
    decode_until(bytes, false).0
}

/// The characters of a string (up to NUL or end of file) and the number of bytes that were read.
pub fn decode_string(bytes: &[u8]) -> (Vec<u8>, usize) {
    decode_until(bytes, true)
}

fn decode_until(bytes: &[u8], stop_at_nul: bool) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte == ESCAPE {
            let second = bytes.get(at).copied().unwrap_or(0);
            at = (at + 1).min(bytes.len());
            if second == 0 {
                break;
            }
        } else if byte == 0 && stop_at_nul {
            break;
        }
        out.push(byte);
    }
    (out, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_comes_back() {
        let all: Vec<u8> = (0..=255).chain([255, 0, 255]).collect();
        assert_eq!(decode_stream(&encode_stream(&all)), all);
    }

    #[test]
    fn an_input_stream_has_faults() {
        let bytes = [
            b'a', b'b', 0xFF, 2, b'c', 0xFF, 1, 4, 0xFF, 0xFF, b'd', 0xFF, 0, b'e',
        ];
        let expected = [
            Piece::Text(b"ab".to_vec()),
            Piece::Short,
            Piece::Text(b"c".to_vec()),
            Piece::Fails(4),
            Piece::Text(vec![0xFF, b'd']),
        ];
        assert_eq!(pieces(&bytes), expected);
    }

    #[test]
    fn end_of_file_ends_a_stream() {
        assert_eq!(decode_stream(&[b'a', 0xFF, 0x00, b'b']), b"a");
        assert_eq!(decode_stream(&[b'a', 0xFF]), b"a");
        assert_eq!(
            decode_stream(&[b'a', 0xFF, 1, 0, b'b']),
            [b'a', 0xFF, 0, b'b']
        );
    }

    #[test]
    fn a_string_ends_at_nul() {
        assert_eq!(decode_string(b"ab\0cd"), (b"ab".to_vec(), 3));
        assert_eq!(decode_string(b"ab"), (b"ab".to_vec(), 2));
        assert_eq!(decode_string(&[b'a', 0xFF, 0, 9]), (b"a".to_vec(), 3));
    }

    #[test]
    fn the_program_s_own_functions_are_not_in_the_table() {
        assert_eq!(Shape::of_stub("device_open"), None);
        assert_eq!(
            Shape::of_stub("__VERIFIER_nondet_ushort"),
            Some(Shape::Int {
                size: 2,
                signed: false
            })
        );
        assert_eq!(Shape::of_stub("env:HOME"), Some(Shape::OptionalString));
    }
}
