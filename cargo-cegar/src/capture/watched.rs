//! Runs cargo and reports its progress: a build may take minutes, and silence would look like a
//! hang.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A callback that receives the seconds that cargo has worked and its last status line. The status
/// is empty at the beginning and at the end.
pub type Doing<'a> = dyn FnMut(u64, &str) + 'a;

/// How often the progress is repeated.
const TICK: Duration = Duration::from_millis(500);

/// Runs cargo until it ends.
pub(super) fn run(command: &mut Command, doing: &mut Doing<'_>) -> io::Result<Output> {
    doing(0, "");
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (sender, lines) = channel();
    let errors = child.stderr.take().map(|stderr| {
        std::thread::spawn(move || {
            let mut all = Vec::new();
            for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
                all.extend_from_slice(&line);
                all.push(b'\n');
                // The receiver is gone once the build has ended.
                let _ = sender.send(String::from_utf8_lossy(&line).into_owned());
            }
            all
        })
    });
    let output = child.stdout.take().map(|mut stdout| {
        std::thread::spawn(move || {
            let mut all = Vec::new();
            // What was read before an error is all that is available.
            let _ = stdout.read_to_end(&mut all);
            all
        })
    });
    let mut last = String::new();
    loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                let words = line.trim();
                let is_status = [
                    "Compiling",
                    "Checking",
                    "Building",
                    "Downloaded",
                    "Updating",
                ]
                .iter()
                .any(|verb| words.starts_with(verb));
                if is_status {
                    last = words.to_owned();
                    doing(started.elapsed().as_secs(), &last);
                }
            }
            Err(RecvTimeoutError::Timeout) if !last.is_empty() => {
                doing(started.elapsed().as_secs(), &last);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait()?;
    doing(started.elapsed().as_secs().max(1), "");
    let text = |reader: Option<std::thread::JoinHandle<Vec<u8>>>| {
        reader
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    };
    Ok(Output {
        status,
        stdout: text(output),
        stderr: text(errors),
    })
}
