//! Reads TAB files: records of raw bytes, text or numbers. `c/tabfile.h` describes the format.

use std::fmt;

#[allow(non_camel_case_types, dead_code, missing_docs)]
mod sys {
    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
}

/// Why a file was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The file ends within its header.
    Truncated,
    /// The file does not start with the signature of TAB files.
    NoTabFile,
    /// The library does not know the version.
    BadVersion,
    /// The header's checksum does not match.
    BadChecksum,
    /// The header contradicts itself or the size of the file.
    BadHeader,
    /// A record's kind is unknown, or the record is outside the data.
    BadRecord,
}

impl Error {
    fn of(code: i32) -> Self {
        match code {
            sys::TAB_TRUNCATED => Self::Truncated,
            sys::TAB_NO_TAB_FILE => Self::NoTabFile,
            sys::TAB_BAD_VERSION => Self::BadVersion,
            sys::TAB_BAD_CHECKSUM => Self::BadChecksum,
            sys::TAB_BAD_HEADER => Self::BadHeader,
            _ => Self::BadRecord,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the file is shorter than a header",
            Self::NoTabFile => "not a TAB file",
            Self::BadVersion => "unknown version",
            Self::BadChecksum => "the header's checksum does not match",
            Self::BadHeader => "the header contradicts itself or the file's size",
            Self::BadRecord => "a record is of no known kind or lies outside the data",
        })
    }
}

impl std::error::Error for Error {}

/// One record's content.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<'a> {
    /// Uninterpreted bytes.
    Raw(&'a [u8]),
    /// Text, exactly as in the file.
    Text(&'a [u8]),
    /// Unsigned 32-bit numbers.
    Numbers(Vec<u32>),
}

/// A file whose index has been read and checked.
pub struct Tab<'a> {
    bytes: &'a [u8],
    index: Box<sys::tab_index>,
}

impl<'a> Tab<'a> {
    /// Reads and checks the index of a file.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        // SAFETY: `tab_index` is a C struct of integers; all of them may be zero.
        let mut index: Box<sys::tab_index> = Box::new(unsafe { std::mem::zeroed() });
        // SAFETY: `bytes` is valid for reads of its length, `index` for writes.
        let code = unsafe { sys::tab_read(bytes.as_ptr(), bytes.len() as _, &mut *index) };
        if code == sys::TAB_OK {
            Ok(Self { bytes, index })
        } else {
            Err(Error::of(code))
        }
    }

    /// The file's version.
    pub fn version(&self) -> u16 {
        self.index.version
    }

    /// The records, in the file's order.
    pub fn records(&self) -> impl Iterator<Item = Record<'a>> + '_ {
        let count = usize::from(self.index.count);
        self.index.records.iter().take(count).filter_map(|record| {
            let start = record.offset as usize;
            let content = self.bytes.get(start..start + usize::from(record.length))?;
            Some(match u32::from(record.kind) {
                sys::TAB_TEXT => Record::Text(content),
                sys::TAB_NUMBERS => Record::Numbers(
                    content
                        .chunks_exact(4)
                        .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                        .collect(),
                ),
                _ => Record::Raw(content),
            })
        })
    }
}

/// The checksum that a header ends with.
pub fn crc32(bytes: &[u8]) -> u32 {
    // SAFETY: `bytes` is valid for reads of its length.
    unsafe { sys::tab_crc32(bytes.as_ptr(), bytes.len() as _) }
}
