//! `build`: reports which C files belong to the crate, and whether they compile.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::args::{BuildArgs, GlobalArgs};
use super::run::{compiler, open};
use super::{finish, note, reporter};
use crate::compile::{Compiler, compile};
use crate::error::Error;
use crate::event::{Event, Level, Reporter};
use crate::exit::ExitCode;
use crate::options::Harness;
use crate::plan::SourceList;
use crate::{plan, store};

/// `cargo cegar build`
pub(super) fn build(
    global_args: &GlobalArgs,
    args: &BuildArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (project, config) = open(global_args)?;
    let mut fan = reporter(global_args, false, &project.root);
    let scratch = project.scratch();
    store::writable_dir(&scratch)?;
    // Before the long part: without a compiler the capture would be useless.
    let clang = if args.no_compile {
        None
    } else {
        Some(compiler(&config)?)
    };
    let library = plan::library(&project, &config, SourceList::New, &mut fan, stop)?;
    for unit in &library.units {
        let file = unit
            .source
            .strip_prefix(&project.root)
            .unwrap_or(&unit.source);
        note(&mut fan, Level::Detail, file.display().to_string());
    }
    fan.event(&Event::Compiling {
        what: format!("{} C sources", project.name),
        files: library.units.len(),
        from: library.from.clone(),
    });
    let Some(clang) = clang else {
        return finish(fan);
    };
    let properties = Harness::new("", Vec::new()).properties;
    let total = library.units.len() as u64;
    let compiled = compile(
        &clang,
        &library.units,
        &properties,
        &scratch.join("bitcode"),
        stop,
        &mut |done| {
            fan.event(&Event::CompileProgress {
                what: project.name.clone(),
                done: done as u64,
                total,
            });
        },
    )?;
    fan.event(&Event::Compiled {
        what: project.name.clone(),
        files: compiled.bitcode.len(),
        cached: compiled.cached,
        seconds: compiled.seconds,
        warnings: compiled.warnings,
    });
    note(
        &mut fan,
        Level::Info,
        format!(
            "{} files to bitcode in {:.1}s ({} unchanged)",
            compiled.bitcode.len(),
            compiled.seconds,
            compiled.cached
        ),
    );
    let undefined = undefined(&clang, &compiled.bitcode);
    if !undefined.is_empty() {
        fan.event(&Event::Mocked {
            functions: undefined,
        });
    }
    finish(fan)
}

/// Functions that the library calls and that neither it nor the stub library defines, so that each
/// will be mocked. This is a preview by the symbol tables; the campaign reports what it actually
/// mocked.
fn undefined(clang: &Compiler, bitcode: &[PathBuf]) -> Vec<String> {
    let beside = clang
        .path
        .canonicalize()
        .unwrap_or_else(|_| clang.path.clone());
    let nm = beside.with_file_name("llvm-nm");
    let output = std::process::Command::new(&nm)
        .arg("--no-weak")
        .args(bitcode)
        .output();
    let Ok(output) = output else {
        tracing::debug!("no {}", nm.display());
        return Vec::new();
    };
    let (mut wanted, mut defined) = (Vec::new(), std::collections::BTreeSet::new());
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split_whitespace().rev();
        match (words.next(), words.next()) {
            (Some(name), Some("U")) => wanted.push(name.to_owned()),
            (Some(name), Some(_)) => drop(defined.insert(name.to_owned())),
            _ => {}
        }
    }
    wanted.retain(|name| !defined.contains(name) && !is_stubbed(name));
    wanted.sort();
    wanted.dedup();
    wanted
}

fn is_stubbed(name: &str) -> bool {
    name.starts_with("llvm.")
        || name.starts_with("crunner_")
        || name.starts_with("__VERIFIER_")
        || cegar_stubs::redirections().iter().any(|r| r.symbol == name)
        || cegar_stubs::heap().iter().any(|r| r.symbol == name)
        || cegar_stubs::engine_only().contains(&name)
        || cegar_stubs::runtime().contains(&name)
        || cegar_stubs::math().contains(&name)
        || cegar_stubs::failing_functions()
            .iter()
            .any(|f| f.name == name)
}
