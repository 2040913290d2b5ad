//! Records the tape that is being run where it outlives the worker.
//!
//! A target may overwrite its own stack or the worker's heap. Then no handler can recover, and the
//! process ends without a message, together with the bug that was being searched. Every tape is
//! therefore copied, before it is run, into a file that both processes map as shared memory. The
//! parent reads the file when a worker died. This costs a copy of some hundred bytes per run, and
//! no system call.

use std::fs::File;
use std::path::Path;

use memmap2::MmapMut;

/// The size of the header before the tape: three little-endian numbers of 8 bytes each, which are
/// the tape's length, the number of runs that were started, and the number of crashes.
const HEADER: usize = 24;

/// The content of the recorder of a worker that is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// The tape of the last run; `None` before the first run.
    pub tape: Option<Vec<u8>>,
    /// The number of runs that were started, of the target and of the target that logs comparisons.
    pub runs: u64,
    /// Whether one of the runs crashed and the worker continued.
    pub crashed: bool,
}

/// The worker's side of the recorder.
pub(super) struct Recorder {
    memory: MmapMut,
    runs: u64,
    crashes: u64,
}

impl Recorder {
    /// Makes the file large enough for tapes of up to `longest` bytes.
    pub fn prepare(file: &File, longest: usize) -> std::io::Result<()> {
        file.set_len((HEADER + longest) as u64)
    }

    /// Maps a file that [`Recorder::prepare`] made.
    pub fn open(path: &Path) -> std::io::Result<Recorder> {
        let file = File::options().read(true).write(true).open(path)?;
        // SAFETY: the file was made for this worker only, no process shortens it, and the parent
        // reads it only when the worker is gone.
        let memory = unsafe { MmapMut::map_mut(&file)? };
        Ok(Recorder {
            memory,
            runs: 0,
            crashes: 0,
        })
    }

    /// Records that this tape is about to be run. A tape that is too long is truncated.
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

    /// Records that the last run crashed.
    pub fn crashed(&mut self) {
        self.crashes += 1;
        if let Some(number) = self.memory.get_mut(16..HEADER) {
            number.copy_from_slice(&self.crashes.to_le_bytes());
        }
    }

    /// The record in the file of a worker that is gone. It is empty if the file is damaged, since
    /// the target may have written to it.
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
