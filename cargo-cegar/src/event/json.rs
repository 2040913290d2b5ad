//! Writes one JSON object per line to stdout, each with a `reason`, for programs. The last reason
//! is `finished`.

use std::io::{self, Write};

use super::{Event, Reporter};

/// Writes events as JSON lines.
pub struct JsonReporter<W: Write> {
    to: W,
    failed: Option<io::Error>,
}

impl<W: Write> JsonReporter<W> {
    /// A reporter that writes to `to`.
    pub fn new(to: W) -> Self {
        JsonReporter { to, failed: None }
    }
}

impl<W: Write> Reporter for JsonReporter<W> {
    fn event(&mut self, event: &Event) {
        if self.failed.is_some() {
            return;
        }
        let written = serde_json::to_string(event)
            .map_err(io::Error::from)
            .and_then(|line| writeln!(self.to, "{line}"))
            .and_then(|()| self.to.flush());
        self.failed = written.err();
    }

    fn finish(&mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(why) => Err(why),
            None => self.to.flush(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn the_last_line_is_what_scripts_read() {
        let mut out = Vec::new();
        let mut reporter = JsonReporter::new(&mut out);
        reporter.event(&Event::Found(samples::finding("src/header.c")));
        reporter.event(&Event::Finished(samples::summary()));
        reporter.finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["reason"], "found");
        assert_eq!(lines[0]["input"], "YWFhYQ==");
        assert_eq!(lines[1]["reason"], "finished");
        assert_eq!(lines[1]["verdict"], "violated");
        assert_eq!(lines[1]["goals"]["checks"]["proved"], 66);
        assert_eq!(lines[1]["stats"]["solver_calls"], 7);
        assert_eq!(lines[1]["tests"][0]["name"], "t");
    }
}
