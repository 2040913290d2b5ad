//! Reports programs that cannot be built in the user's terms, and resolves duplicate definitions
//! like the linker of the crate's build.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use cegar_harness::build::{self, duplicates};
use cegar_model::program::normalise::{NormaliseError, Symbols};

use crate::compile::Unit;
use crate::error::Error;
use crate::event::{Event, Level, Reporter};
use crate::exit::ExitCode;
use crate::options::Harness;

/// The heap functions that the machine and the native runtime provide together: a program that
/// defines some of them would mix two heaps.
const HEAP: [&str; 4] = ["malloc", "calloc", "realloc", "free"];

/// Rejects a program that defines its own heap functions.
pub(super) fn own_heap(units: &[Unit], symbols: &[Symbols]) -> Result<(), Error> {
    for (unit, symbols) in units.iter().zip(symbols) {
        let own = HEAP
            .iter()
            .find(|name| symbols.functions.contains_key(**name));
        if let Some(name) = own {
            return Err(Error::usage(
                format!(
                    "{} defines `{name}` itself, and the heap is what is watched here",
                    unit.source.display()
                ),
                format!(
                    "leave the file out ([c] exclude in cegar.toml), or rename its function: -D \
                     {name}=own_{name}, or `defines` under [c]"
                ),
            ));
        }
    }
    Ok(())
}

/// The part of a program that remains if files of the library define the same symbols.
pub(super) struct Kept {
    /// For each file, whether it remains in the program.
    pub stays: Vec<bool>,
    /// Definitions that are overridden by those of another file.
    pub weakened: HashSet<(PathBuf, String)>,
}

/// Leaves out files that the linker would not take from the library's archive, and reports this.
pub(super) fn without_duplicates(
    harness: &Harness,
    symbols: &[Symbols],
    bitcode: &[PathBuf],
    reporter: &mut dyn Reporter,
) -> Kept {
    let files: Vec<build::Symbols> = symbols
        .iter()
        .enumerate()
        .map(|(at, symbols)| build::Symbols {
            defines: symbols.defines.clone(),
            wants: symbols.wants.clone(),
            in_archive: harness.library.contains(&at),
        })
        .collect();
    let mut kept = Kept {
        stays: vec![true; files.len()],
        weakened: HashSet::new(),
    };
    let name = |at: usize| harness.units[at].source.display();
    for duplicate in duplicates(&files) {
        let symbol = &duplicate.symbol;
        if !duplicate.left_out {
            let path = bitcode[duplicate.other].clone();
            kept.weakened.insert((path, symbol.clone()));
            reporter.event(&Event::Note {
                level: Level::Warning,
                message: format!(
                    "{} defines `{symbol}`, too; what {} defines is used",
                    name(duplicate.other),
                    name(duplicate.used)
                ),
            });
        } else if std::mem::take(&mut kept.stays[duplicate.other]) {
            reporter.event(&Event::LeftOut {
                file: name(duplicate.other).to_string(),
                why: format!(
                    "{} defines `{symbol}`, too, and the linker takes that",
                    name(duplicate.used)
                ),
            });
        }
    }
    kept
}

/// The error for a program that could not be linked: errors that the user can fix are explained,
/// all others are internal.
pub(super) fn link_error(why: NormaliseError, units: &[Unit], bitcode: &[PathBuf]) -> Error {
    let source = |path: &Path| {
        let at = bitcode.iter().position(|file| file == path);
        let unit = at.and_then(|at| units.get(at));
        unit.map_or(path, |unit| &unit.source).display().to_string()
    };
    match why {
        NormaliseError::Duplicate {
            symbol,
            first,
            second,
        } => Error::Campaign {
            message: format!(
                "`{symbol}` is defined in both {} and {}",
                source(&first),
                source(&second)
            ),
            exit: ExitCode::BuildFailed,
        },
        NormaliseError::EntrySignature { name, signature } if name == "main" => Error::usage(
            format!("the program cannot be started at `{signature}`"),
            "`main` returns int or nothing, and takes nothing, or (int, char **), or (int, char \
             **, char **)",
        ),
        NormaliseError::EntrySignature { name, signature } => Error::usage(
            format!("the program cannot be started at `{signature}`"),
            format!(
                "--entry takes a function without parameters that returns an integer or nothing: \
                 write one that calls `{name}` with values of crunner_range, crunner_get_bytes and \
                 the like (crunner.h)"
            ),
        ),
        NormaliseError::NoEntry(name) => Error::nothing(
            format!("no function `{name}` is defined to start from"),
            "name a function without parameters with --entry, or in cegar.toml as `entry`",
        ),
        why => Error::engine("linking the program", why),
    }
}
