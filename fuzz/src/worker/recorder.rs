//! The tape that is being run, kept where it outlives the worker.
//!
//! A target may overwrite the very stack that it runs on, or the worker's own heap: then no handler
//! has anything to return to, and the process ends without a message, with the bug that was looked
//! for. So every tape is copied, before it is run, into a file that both processes share as memory;
//! the parent reads it when a worker died. That is a copy of some hundred bytes per run, and no
//! system call.

use std::fs::File;
use std::path::Path;

use memmap2::MmapMut;

/// Three numbers before the tape, little-endian, 8 bytes each: its length, how many runs were
/// begun, and how many crashed.
const HEADER: usize = 24;

/// What a recorder held when its worker was gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// The tape that was run last; `None` before the first run.
    pub tape: Option<Vec<u8>>,
    /// Runs begun, of the target and of its twin that logs comparisons.
    pub runs: u64,
    /// Whether one of them crashed, and the worker went on.
    pub crashed: bool,
}

/// The worker's side.
pub(super) struct Recorder {
    memory: MmapMut,
    runs: u64,
    crashes: u64,
}

impl Recorder {
    /// Makes a file large enough for tapes up to `longest` bytes.
    pub fn prepare(file: &File, longest: usize) -> std::io::Result<()> {
        file.set_len((HEADER + longest) as u64)
    }

    /// Maps a file that [`Recorder::prepare`] made.
    pub fn open(path: &Path) -> std::io::Result<Recorder> {
        let file = File::options().read(true).write(true).open(path)?;
        // SAFETY: the file was made for this worker alone, no process shortens it, and the parent
        // reads it only when the worker is gone.
        let memory = unsafe { MmapMut::map_mut(&file)? };
        Ok(Recorder {
            memory,
            runs: 0,
            crashes: 0,
        })
    }

    /// Notes that this tape is run now. A tape that is too long is cut.
    pub fn note(&mut self, tape: &[u8]) {
        self.runs += 1;
        let Some((header, room)) = self.memory.split_at_mut_checked(HEADER) else {
            return;
        };
        let length = tape.len().min(room.len());
        header[..8].copy_from_slice(&(length as u64).to_le_bytes());
        header[8..16].copy_from_slice(&self.runs.to_le_bytes());
        room[..length].copy_from_slice(&tape[..length]);
    }

    /// Notes that the run which was noted last crashed.
    pub fn crashed(&mut self) {
        self.crashes += 1;
        if let Some(number) = self.memory.get_mut(16..HEADER) {
            number.copy_from_slice(&self.crashes.to_le_bytes());
        }
    }

    /// What is in the file of a worker that is gone. A damaged file (the target may have written to
    /// it) holds nothing.
    pub fn read(path: &Path) -> Record {
        let bytes = std::fs::read(path).unwrap_or_default();
        let number = |at: usize| {
            let bytes = bytes.get(at..at + 8)?.try_into().ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        let (Some(length), Some(runs), Some(crashes)) = (number(0), number(8), number(16)) else {
            return Record::default();
        };
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| HEADER.checked_add(length));
        match end.and_then(|end| bytes.get(HEADER..end)) {
            Some(tape) if runs > 0 => Record {
                tape: Some(tape.to_vec()),
                runs,
                crashed: crashes > 0,
            },
            _ => Record::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_tape_is_there_when_the_worker_is_not() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        Recorder::prepare(file.as_file(), 10).expect("room");
        assert_eq!(Recorder::read(file.path()), Record::default());
        let mut recorder = Recorder::open(file.path()).expect("mapped");
        recorder.note(b"a longer one");
        recorder.crashed();
        recorder.note(b"last");
        drop(recorder);
        let record = Recorder::read(file.path());
        assert_eq!(record.tape.as_deref(), Some(&b"last"[..]));
        assert!(record.runs == 2 && record.crashed);
    }

    #[test]
    fn a_file_that_was_overwritten_holds_nothing() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), [0xaa; 40]).expect("written");
        assert_eq!(Recorder::read(file.path()), Record::default());
    }
}
