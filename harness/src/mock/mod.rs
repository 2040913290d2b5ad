//! The mock environment: the recorded answers of the outside world.
//!
//! The answers that a C program gets determine its run: characters from stdin, environment
//! variables, files, and the values that undefined functions return. SeaHorn's executable
//! counterexamples (section 3) link such answers as C code. Here they are data, one queue per
//! channel, so that a test can be read and changed without touching C code. When a queue is
//! exhausted, the answer is zero, or end of file for streams.

mod outside;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::channel::{self, Shape};
use crate::isolate;
use crate::locate;
use crate::respond::{self, Answer, Respond};
use crate::run::Run;

/// A mock environment for one harness. The methods below fill it, and [`Mock::run`] runs it.
#[derive(Debug, Clone)]
#[must_use = "nothing happens until `run` is called"]
pub struct Mock {
    harness: String,
    runner: Result<locate::Runner, Vec<PathBuf>>,
    queues: BTreeMap<String, Vec<u8>>,
    answers: BTreeMap<String, Answer>,
    limit: Duration,
}

impl Mock {
    /// An empty environment for the harness of this name, which the package's build script built.
    pub fn new(harness: &str) -> Self {
        Self::with(harness, locate::find(harness))
    }

    /// An empty environment for an executable that was built elsewhere (see
    /// [`Build`](crate::build::Build)).
    pub fn at(runner: impl AsRef<Path>) -> Self {
        let runner = runner.as_ref();
        let name = runner
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Self::with(
            &name,
            locate::open(runner).ok_or_else(|| vec![runner.to_owned()]),
        )
    }

    fn with(harness: &str, runner: Result<locate::Runner, Vec<PathBuf>>) -> Self {
        Mock {
            harness: harness.to_owned(),
            runner,
            queues: BTreeMap::new(),
            answers: BTreeMap::new(),
            limit: Duration::from_secs(10),
        }
    }

    /// Adds characters of stdin. After them comes end of file.
    pub fn stdin(self, text: impl AsRef<[u8]>) -> Self {
        self.choices("stdin", channel::encode_stream(text.as_ref()))
    }

    /// The input of `LLVMFuzzerTestOneInput`.
    pub fn data(self, bytes: impl AsRef<[u8]>) -> Self {
        self.choices("data", bytes)
    }

    /// Sets an environment variable. Variables are unset by default.
    pub fn env(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.present("env", name, value.as_ref())
    }

    /// States that an environment variable is unset. That is the default, so it only documents the
    /// test.
    pub fn no_env(self, name: &str) -> Self {
        self.choices(&format!("env:{name}"), [0])
    }

    /// Sets the contents of a file that the program opens by this name. Files do not exist by
    /// default.
    pub fn file(self, name: &str, contents: impl AsRef<[u8]>) -> Self {
        self.present("file", name, contents.as_ref())
    }

    /// Makes a read of `stdin`, or of the file of this name, fail with this error (see
    /// [`errno`](crate::errno)) after the characters given so far. Characters that are added later
    /// can be read after the error.
    pub fn read_fails(self, stream: &str, error: u8) -> Self {
        let (mock, channel) = self.input(stream);
        mock.choices(&channel, channel::encode_fault(error))
    }

    /// Ends a read of `stdin`, or of the file of this name, early, after the characters given so
    /// far and `text`.
    pub fn short_read(self, stream: &str, text: impl AsRef<[u8]>) -> Self {
        let (mock, channel) = self.input(stream);
        mock.choices(&channel, channel::encode_stream(text.as_ref()))
            .choices(&channel, channel::encode_short())
    }

    /// Adds characters to `stdin`, or to the file of this name.
    pub fn then_reads(self, stream: &str, text: impl AsRef<[u8]>) -> Self {
        let (mock, channel) = self.input(stream);
        mock.choices(&channel, channel::encode_stream(text.as_ref()))
    }

    /// The channel of an input stream. A file about which nothing was said before exists.
    fn input(self, stream: &str) -> (Self, String) {
        if stream == "stdin" {
            return (self, stream.to_owned());
        }
        let channel = format!("file:{stream}");
        let mock = match self.queues.get(&channel) {
            None => self.choices(&channel, [1]),
            Some(_) => self,
        };
        (mock, channel)
    }

    /// Makes the next call of the C library's function `name` fail with this error:
    /// `.fails("write", errno::ENOSPC)`. An error that the function never has is ignored.
    pub fn fails(self, name: &str, error: u8) -> Self {
        self.choices(name, [channel::encode_refusal(error)])
    }

    /// Makes the next call of the C library's function `name` succeed. That is the default, so it
    /// only matters before a later failure.
    pub fn succeeds(self, name: &str) -> Self {
        self.choices(name, [0])
    }

    /// Makes the next call of `write` (or `fwrite`) write only so many bytes (or elements).
    pub fn short_write(self, name: &str, count: u32) -> Self {
        let bytes = count.saturating_sub(1).to_le_bytes();
        self.choices(name, [channel::REFUSED]).choices(name, bytes)
    }

    /// States that a file does not exist. That is the default, so it only documents the test.
    pub fn no_file(self, name: &str) -> Self {
        self.choices(&format!("file:{name}"), [0])
    }

    /// Makes the `number`th allocation (from 1) fail. `malloc`, `calloc`, `realloc`, `strdup` and
    /// all other functions that allocate for the program count, for sizes up to 64 MiB.
    ///
    /// # Panics
    /// If the number is 0, which is a mistake in the test.
    pub fn malloc_fails(self, number: usize) -> Self {
        self.marked("malloc", number)
    }

    /// Makes the `number`th allocation of more than 64 MiB (from 1) succeed. By default these fail.
    ///
    /// # Panics
    /// If the number is 0, which is a mistake in the test.
    pub fn large_malloc_succeeds(self, number: usize) -> Self {
        self.marked("malloc:large", number)
    }

    /// Sets the `number`th choice of a channel of truth values to true.
    fn marked(mut self, channel: &str, number: usize) -> Self {
        assert!(number > 0, "allocations are counted from 1");
        let queue = self.queues.entry(channel.to_owned()).or_default();
        if queue.len() < number {
            queue.resize(number, 0);
        }
        queue[number - 1] = 1;
        self
    }

    fn present(self, family: &str, name: &str, text: &[u8]) -> Self {
        let mut bytes = vec![1];
        bytes.extend(channel::encode_stream(text));
        self.choices(&format!("{family}:{name}"), bytes)
    }

    /// Sets the arguments of `main`, without the program's name. The harness must allow as many
    /// (`argv` in `cegar.toml`).
    pub fn args<T: AsRef<[u8]>>(self, arguments: impl IntoIterator<Item = T>) -> Self {
        let (mut mock, mut count) = (self, 0u8);
        for argument in arguments {
            count = count.saturating_add(1);
            mock = mock.choices(
                &format!("argv:{count}"),
                channel::encode_stream(argument.as_ref()),
            );
        }
        mock.choices("argc", [count])
    }

    /// Lets a closure answer each call of the function `name`, as in `.when("bus_read", |address:
    /// u32| address + 1)`. It gets the function's first parameters. Recorded answers of that
    /// function are used after the closure's.
    pub fn when<A>(mut self, name: &str, closure: impl Respond<A> + 'static) -> Self {
        self.answers.insert(name.to_owned(), Answer::new(closure));
        self
    }

    /// The closure's answer to a call, if there is a closure.
    fn answer(&self, line: &str) -> Option<Vec<u8>> {
        let (name, words) = respond::parse(line)?;
        let value = self.answers.get(name)?.answer(&words);
        if self.shape(name) == Some(Shape::Void) {
            return Some(Vec::new());
        }
        match value.encode(self.shape(name)) {
            Ok(bytes) => Some(bytes),
            Err(unfit) => panic!("`{name}` cannot return {value}: {unfit}"),
        }
    }

    /// Adds raw bytes to a channel's queue. What the bytes mean depends on the channel.
    pub fn choices(mut self, channel: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.queues
            .entry(channel.to_owned())
            .or_default()
            .extend_from_slice(bytes.as_ref());
        self
    }

    /// The time limit of a run, after which it fails. Default: 10 seconds.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    fn shape(&self, name: &str) -> Option<Shape> {
        let own = self
            .runner
            .as_ref()
            .ok()
            .and_then(|runner| runner.channels.get(name).copied());
        own.or_else(|| Shape::of_stub(name))
    }

    /// Runs the harness once in its own process.
    pub fn run(&self) -> Run {
        match &self.runner {
            Err(looked) => Run::missing(&self.harness, looked.clone()),
            Ok(runner) => {
                let bytes = self.file_format();
                if let Some(keep) = std::env::var_os("CEGAR_KEEP_MOCK")
                    && let Err(why) = std::fs::write(&keep, &bytes)
                {
                    eprintln!("CEGAR_KEEP_MOCK: {}: {why}", keep.display());
                }
                // `cargo cegar debug` reads the executable's path from a file beside the mock
                // environment.
                if let Some(keep) = std::env::var_os("CEGAR_KEEP_MOCK") {
                    let note = PathBuf::from(keep).with_extension("runner");
                    let _ = std::fs::write(note, runner.path.display().to_string());
                }
                let mut answer = |line: &str| respond::reply(self.answer(line).as_deref());
                let answer: Option<&mut dyn FnMut(&str) -> String> = if self.answers.is_empty() {
                    None
                } else {
                    Some(&mut answer)
                };
                let ended =
                    isolate::run(&runner.path, &bytes, self.limit, runner.sanitized, answer);
                Run::read(
                    &self.harness,
                    &runner.path,
                    &runner.parameters,
                    self.limit,
                    ended,
                )
            }
        }
    }

    /// The environment in the format that the C runtime reads: `CEGMOCK1`, then for each channel
    /// the length of the name (u32), the name, the number of bytes (u64) and the bytes.
    pub(crate) fn file_format(&self) -> Vec<u8> {
        let mut out = b"CEGMOCK1".to_vec();
        for (name, bytes) in &self.queues {
            out.extend((name.len() as u32).to_le_bytes());
            out.extend(name.as_bytes());
            out.extend((bytes.len() as u64).to_le_bytes());
            out.extend(bytes);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mock() -> Mock {
        Mock::at("/nowhere/parse")
    }

    #[test]
    fn queues_are_encoded() {
        let mock = mock()
            .stdin([b'a', 0xFF])
            .env("HOME", "/r")
            .returns("int", [1, -1])
            .returns_null("open");
        assert_eq!(mock.queues["stdin"], [b'a', 0xFF, 0xFF]);
        assert_eq!(mock.queues["env:HOME"], [1, b'/', b'r']);
        assert_eq!(mock.queues["int"], [1, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(mock.queues["open"], [0]);
    }

    #[test]
    fn faults_stand_where_they_come() {
        let mock = mock()
            .stdin("ab")
            .read_fails("stdin", crate::errno::EINTR)
            .short_read("stdin", "c")
            .then_reads("stdin", "d")
            .succeeds("write")
            .fails("write", crate::errno::ENOSPC)
            .short_write("write", 2);
        assert_eq!(
            mock.queues["stdin"],
            [b'a', b'b', 0xFF, 1, 4, b'c', 0xFF, 2, b'd']
        );
        assert_eq!(mock.queues["write"], [0, 0x9C, 0x80, 1, 0, 0, 0]);
    }

    #[test]
    fn a_file_that_is_read_exists() {
        let mock = mock()
            .then_reads("a", "x")
            .read_fails("b", crate::errno::EIO)
            .file("c", "y")
            .then_reads("c", "z");
        assert_eq!(mock.queues["file:a"], [1, b'x']);
        assert_eq!(mock.queues["file:b"][0], 1);
        assert_eq!(mock.queues["file:c"], [1, b'y', b'z']);
    }

    #[test]
    fn objects_are_their_bytes() {
        #[derive(Clone, Copy, Default)]
        #[repr(C)]
        struct Config {
            name_len: u16,
            flags: u16,
        }
        let mock = mock().returns_object(
            "config",
            Config {
                name_len: 17,
                ..crate::zeroed()
            },
        );
        assert_eq!(mock.queues["config"], [1, 17, 0, 0, 0]);
    }

    #[test]
    fn the_file_is_as_the_runtime_reads_it() {
        let bytes = mock().data(b"xy").file_format();
        assert_eq!(bytes, b"CEGMOCK1\x04\0\0\0data\x02\0\0\0\0\0\0\0xy");
    }

    #[test]
    #[should_panic(expected = "`__VERIFIER_nondet_short` cannot return 70000")]
    fn a_value_that_does_not_fit_is_an_error() {
        let _ = mock().returns("__VERIFIER_nondet_short", [70000]);
    }

    #[test]
    fn a_missing_harness_says_so() {
        let run = mock().run();
        assert!(
            run.outcome().to_string().contains("`parse` is not built"),
            "{}",
            run.outcome()
        );
    }
}
