//! `init`: writes the package and reports what was written.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::args::{GlobalArgs, InitArgs};
use super::run::{compiler, open};
use super::{finish, note, reporter};
use crate::error::Error;
use crate::event::Level;
use crate::exit::ExitCode;
use crate::init::{InitOptions, Initialised, Wanted};
use crate::lists::few;
use crate::options::duration;
use crate::project::Project;

/// `cargo cegar init`
pub(super) fn init(
    global_args: &GlobalArgs,
    args: &InitArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (project, config) = open(global_args)?;
    let set_up = project.cegar.join("cegar.toml").is_file();
    if !args.ci.is_empty()
        && set_up
        && args.function.is_empty()
        && args.name.is_none()
        && args.header.is_none()
        && args.from_fuzz.is_none()
        && !args.from_tests
    {
        let mut fan = reporter(global_args, false, &project.root);
        super::init_ci::init_ci(global_args, args, &mut fan, stop)?;
        return finish(fan);
    }
    let options = InitOptions {
        header: args.header.clone(),
        wanted: Wanted(args.function.clone()),
        most: args.most,
        name: args.name.clone(),
        from_fuzz: args.from_fuzz.clone(),
        from_tests: args.from_tests,
        try_for: match args.no_try {
            true => None,
            false => Some(duration(&args.try_for)?),
        },
        try_all: duration(&args.try_all)?,
    };
    let mut fan = reporter(global_args, false, &project.root);
    // Without a compiler, the package can still be written.
    let clang = match compiler(&config) {
        Ok(clang) => Some(clang),
        Err(why) if args.header.is_some() || !args.function.is_empty() || args.from_tests => {
            return Err(why);
        }
        Err(_) => None,
    };
    let done = crate::init::init(&project, &config, clang.as_ref(), &options, &mut fan, stop)?;
    let telling = Telling {
        here: std::env::current_dir().unwrap_or_default(),
        done: &done,
    };
    if stop.load(Ordering::Relaxed) {
        let text = "init was interrupted: functions that it did not come to have no harness; call \
            it again";
        note(&mut fan, Level::Warning, text);
    }
    for text in telling.lines(global_args, &project) {
        note(&mut fan, Level::Info, text);
    }
    super::init_ci::init_ci(global_args, args, &mut fan, stop)?;
    let ended = finish(fan)?;
    Ok(match done.build_failed {
        true => ExitCode::BuildFailed,
        false if stop.load(Ordering::Relaxed) => ExitCode::Interrupted,
        false => ended,
    })
}

/// The report of what was done.
struct Telling<'d> {
    /// The folder to which shown paths are relative.
    here: PathBuf,
    done: &'d Initialised,
}

impl Telling<'_> {
    fn show(&self, path: &Path) -> String {
        let short = path.strip_prefix(&self.here).unwrap_or(path);
        short.display().to_string()
    }

    fn lines(&self, global_args: &GlobalArgs, project: &Project) -> Vec<String> {
        let done = self.done;
        let mut lines = self.files();
        for (why, names) in by_reason(&done.skipped) {
            // A header has hundreds of functions, so all of them are only listed with -v.
            let shown = if global_args.verbose > 0 {
                names.len()
            } else {
                SHOWN
            };
            lines.push(format!("no harness, {why}: {}", few(&names, shown)));
        }
        lines.extend(done.notes.iter().cloned());
        lines.extend(crate::init::table(done));
        lines.extend(done.to_do.iter().map(|to_do| format!("next: {to_do}")));
        let package = match project.member {
            true => String::new(),
            false => format!(" -p {}", project.name),
        };
        let tests = self.show(&project.cegar.join("Cargo.toml"));
        let tests = shlex::try_quote(&tests).unwrap_or_else(|_| tests.as_str().into());
        lines.push(format!(
            "then: cargo cegar run{package}; the tests, a workspace of their own: \
             cargo test --manifest-path {tests}"
        ));
        lines
    }

    /// Lists the files that were written, kept and taken over.
    fn files(&self) -> Vec<String> {
        let done = self.done;
        let is_other = |path: &&PathBuf| !done.harnesses.iter().any(|one| one.file == **path);
        let written = done.written.iter().filter(is_other);
        let mut lines: Vec<_> = written
            .map(|path| format!("wrote {}", self.show(path)))
            .collect();
        let kept = done.kept.iter();
        lines.extend(kept.map(|path| format!("kept {}, which was there", self.show(path))));
        lines.extend(done.workspace.iter().map(|path| {
            let path = self.show(path);
            format!("excluded the package from the workspace in {path}")
        }));
        let header = done.header.iter();
        lines.extend(header.map(|header| format!("header {}", self.show(header))));
        for harness in &done.harnesses {
            let is_new = done.written.contains(&harness.file);
            let verb = match (is_new, done.kept.contains(&harness.file)) {
                (true, _) => "wrote",
                (_, true) => continue,
                _ => "took over",
            };
            lines.push(format!(
                "{verb} {}: {}",
                self.show(&harness.file),
                harness.what
            ));
        }
        lines
    }
}

/// The number of names that are shown for one reason.
const SHOWN: usize = 6;

/// The skipped functions, grouped by reason, in the order in which the reasons occur.
fn by_reason(skipped: &[(String, String)]) -> Vec<(&str, Vec<&str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, why) in skipped {
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    reasons
}
