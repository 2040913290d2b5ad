//! Maps addresses to places in the C sources, with `llvm-symbolizer`.
//!
//! The runners are linked at a fixed base, so an address means the same in every run, and one call
//! of the tool per stack is enough. Without the tool, a frame has only its address; findings are
//! reported nevertheless.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::divide;

/// A frame of a call stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The address in the runner.
    pub address: u64,
    /// The function, empty if unknown.
    pub function: String,
    /// The source file, empty if unknown.
    pub file: String,
    /// The line, 0 if unknown.
    pub line: u32,
    /// The column, 0 if unknown.
    pub column: u32,
}

/// The tool, if it is installed.
#[derive(Clone, Debug)]
pub(super) struct Symboliser {
    tool: Option<PathBuf>,
}

/// The answer of `llvm-symbolizer --output-style=JSON` for one address.
#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "Symbol", default)]
    symbols: Vec<Symbol>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct Symbol {
    function_name: String,
    file_name: String,
    line: u32,
    column: u32,
}

impl Symboliser {
    /// Looks for the tool on the path and where Debian installs LLVM 19.
    pub fn find() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let candidates = std::env::split_paths(&path)
            .flat_map(|d| [d.join("llvm-symbolizer-19"), d.join("llvm-symbolizer")])
            .chain([PathBuf::from("/usr/lib/llvm-19/bin/llvm-symbolizer")]);
        Symboliser {
            tool: candidates.into_iter().find(|c| c.is_file()),
        }
    }

    /// The frames at these addresses, innermost first, without the frames of the runner.
    pub fn frames(&self, executable: &Path, addresses: &[u64]) -> Vec<Frame> {
        if addresses.is_empty() {
            return Vec::new();
        }
        let plain = |address: u64| Frame {
            address,
            function: String::new(),
            file: String::new(),
            line: 0,
            column: 0,
        };
        let Some(answers) = self.ask(executable, addresses) else {
            return addresses.iter().copied().map(plain).collect();
        };
        let mut frames = Vec::new();
        for (&address, answer) in addresses.iter().zip(answers) {
            for symbol in answer.symbols {
                frames.push(Frame {
                    address,
                    function: divide::plain(&symbol.function_name).to_owned(),
                    file: symbol.file_name,
                    line: symbol.line,
                    column: symbol.column,
                });
            }
        }
        if let Some(end) = frames.iter().position(|f| f.function == "crunner_rt_run") {
            frames.truncate(end);
        }
        // The driver's entry is at the bottom of every stack, so it is informative only if it is
        // the only frame.
        if frames.len() > 1 && frames.last().is_some_and(|f| f.function == "cegar_entry") {
            frames.pop();
        }
        frames
    }

    fn ask(&self, executable: &Path, addresses: &[u64]) -> Option<Vec<Answer>> {
        let output = Command::new(self.tool.as_ref()?)
            .arg("--output-style=JSON")
            .arg("--obj")
            .arg(executable)
            .args(addresses.iter().map(|a| format!("{a:#x}")))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let answers: Vec<Answer> = serde_json::from_slice(&output.stdout).ok()?;
        (answers.len() == addresses.len()).then_some(answers)
    }
}
