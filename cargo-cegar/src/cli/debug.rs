//! `cargo cegar debug TEST`: a debugger on the run of one test, stopped at the fault.
//!
//! Gennari et al. (*Executable Counterexamples*, section 1) want a counterexample to be executable
//! so that one's own tools can look at it. The test is run once as cargo runs it, which leaves its
//! mock environment and says which executable it is for; the debugger then gets both, and stops
//! where a check fails or a sanitizer reports.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::args::{DebugArgs, Manners};
use crate::error::Error;
use crate::exit::ExitCode;
use crate::project::Project;

/// Where a run that goes wrong comes by: a check of the runtime's, and the reports of
/// AddressSanitizer.
const STOPS: [&str; 2] = ["crunner_violation", "__asan::ReportGenericError"];

/// Runs the command.
pub(super) fn debug(manners: &Manners, args: &DebugArgs) -> Result<ExitCode, Error> {
    let folder = package(manners)?;
    // Before the tests are built for nothing.
    let debugger = debugger(args)?;
    let keep = tempfile::tempdir().map_err(|why| Error::io("create", Path::new("/tmp"), why))?;
    let mock = keep.path().join("mock");
    let runner = record(&folder, &args.test, &mock)?;
    let name = debugger
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut command = Command::new(&debugger);
    command
        .env("CEGAR_MOCK", &mock)
        .env(
            "ASAN_OPTIONS",
            "abort_on_error=1:detect_leaks=0:allocator_may_return_null=1:max_malloc_fill_size=1073741824:malloc_fill_byte=170",
        )
        .env("UBSAN_OPTIONS", "abort_on_error=1:halt_on_error=1");
    if name.contains("lldb") {
        if args.batch {
            command.arg("--batch");
        }
        for stop in STOPS {
            command.args(["-o", &format!("breakpoint set --name {stop}")]);
        }
        command.args(["-o", "run", "-o", "bt", "--"]);
    } else {
        command.arg("-q");
        if args.batch {
            command.arg("-batch");
        }
        command.args(["-ex", "set breakpoint pending on"]);
        for stop in STOPS {
            command.args(["-ex", &format!("break {stop}")]);
        }
        command.args(["-ex", "run", "-ex", "backtrace", "--args"]);
    }
    let status = command
        .arg(&runner)
        .status()
        .map_err(|why| Error::io("run", &debugger, why))?;
    tracing::info!(?status, "the debugger has ended");
    Ok(ExitCode::Clean)
}

/// The folder with the tests: the package that `--manifest-path` names, if it is one of ours, else
/// the crate's `cegar/`.
fn package(manners: &Manners) -> Result<PathBuf, Error> {
    if let Some(manifest) = &manners.manifest_path
        && let Some(folder) = manifest.parent()
        && folder.join("cegar.toml").is_file()
    {
        return Ok(folder.to_owned());
    }
    if manners.manifest_path.is_none()
        && let Ok(here) = std::env::current_dir()
        && here.join("cegar.toml").is_file()
    {
        return Ok(here);
    }
    let project = Project::load(
        manners.manifest_path.as_deref(),
        manners.package.as_deref(),
        manners.target_dir.as_deref(),
    )?;
    Ok(project.cegar)
}

/// Runs the test; its mock environment is left at `mock`. Gives the executable that it ran.
fn record(folder: &Path, test: &str, mock: &Path) -> Result<PathBuf, Error> {
    let manifest = folder.join("Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .arg("test")
        .arg("--manifest-path")
        .arg(&manifest)
        .args([test, "--", "--exact"])
        .env("CEGAR_KEEP_MOCK", mock)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|why| Error::io("run cargo for", &manifest, why))?;
    let note = mock.with_extension("runner");
    match std::fs::read_to_string(&note) {
        Ok(runner) => Ok(PathBuf::from(runner)),
        Err(_) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            Err(Error::nothing(
                format!(
                    "no test of `{}` that is called `{test}` ran a mock\n{said}",
                    folder.display()
                ),
                "`cargo cegar list` names the tests; for those of `check`, go to the package that \
                 it wrote",
            ))
        }
    }
}

fn debugger(args: &DebugArgs) -> Result<PathBuf, Error> {
    if let Some(named) = &args.debugger {
        return which::which(named).map_err(|_| Error::ToolMissing {
            message: format!("there is no debugger `{}`", named.display()),
            help: "install it, or name another with --debugger or CEGAR_DEBUGGER".to_owned(),
        });
    }
    let found = ["gdb", "lldb", "lldb-19"]
        .iter()
        .find_map(|name| which::which(name).ok());
    found.ok_or_else(|| Error::ToolMissing {
        message: "there is no debugger (tried gdb, lldb and lldb-19)".to_owned(),
        help: "install one (on Debian `apt install gdb`), or name it with --debugger or \
            CEGAR_DEBUGGER"
            .to_owned(),
    })
}
