//! The commands that work on a crate: `run`, `replay`, `init`, `build`, `list`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::args::{BudgetArgs, BuildArgs, InitArgs, Manners, MessageFormat, ReplayArgs, RunArgs};
use super::check::{extra_reports, settings};
use super::{conclude, note, reporter, team};
use crate::compile::{Compiler, compile};
use crate::config::Config;
use crate::emit::EmitError;
use crate::error::Error;
use crate::event::{Event, Fan, Level, Reporter};
use crate::exit::ExitCode;
use crate::init::InitOptions;
use crate::list::Remembered;
use crate::options::{Harness, ReplayOptions, RunOptions, duration};
use crate::project::Project;
use crate::report::HtmlReporter;
use crate::{campaign, list as listing, lock, plan, store};

/// A package and what its files say.
pub(super) fn open(manners: &Manners) -> Result<(Project, Config), Error> {
    let project = Project::load(
        manners.manifest_path.as_deref(),
        manners.package.as_deref(),
        manners.target_dir.as_deref(),
    )?;
    let config = Config::load(&project.manifest, &project.cegar.join("cegar.toml"))?;
    Ok((project, config))
}

pub(super) fn compiler(config: &Config) -> Result<Compiler, Error> {
    let environment = std::env::var_os("CEGAR_CLANG").map(PathBuf::from);
    let file = config.c.compiler.clone().map(PathBuf::from);
    Ok(Compiler::find_with(environment.or(file))?)
}

/// `cargo cegar run`
pub(super) fn run(manners: &Manners, args: &RunArgs, stop: &AtomicBool) -> Result<ExitCode, Error> {
    let (project, config) = open(manners)?;
    let mut fan = reporter(manners, args.budget.stats, &project.root);
    extra_reports(&mut fan, &args.budget, &project.root);
    let exchange = team::open(&args.team, &args.budget, &config.run, &mut fan)?;
    let mut options = run_options(
        &project,
        &config,
        &args.harnesses,
        &args.budget,
        None,
        &mut fan,
        stop,
    )?;
    exchange.apply(&args.team, &mut options);
    fan.add(HtmlReporter::new(
        &project.name,
        &options.scratch,
        vec![project.cegar.clone()],
        options.harnesses.iter().map(|h| h.name.clone()).collect(),
        args.html.clone(),
    ));
    for binding in super::bindings::found(&project, &config, &mut fan, stop)? {
        fan.event(&Event::BindingMismatch(binding));
    }
    let outcome = match options.jobs {
        1 => campaign::run(&options, &mut fan, stop),
        _ => campaign::pool::run(&options, &mut fan, stop),
    };
    conclude(outcome, fan, options.settings.require_proof, stop)
}

pub(super) fn run_options(
    project: &Project,
    config: &Config,
    selected: &[String],
    budget: &BudgetArgs,
    artifacts: Option<PathBuf>,
    fan: &mut Fan,
    stop: &AtomicBool,
) -> Result<RunOptions, Error> {
    plan::check_selection(project, config, selected)?;
    if selected.is_empty()
        && let Some(text) = plan::left_out(project, config)?
    {
        note(fan, Level::Warning, text);
    }
    let settings = settings(budget, &config.run, compiler(config)?)?;
    let scratch = project.scratch();
    store::writable_dir(&scratch)?;
    let library = plan::library(project, config, false, fan, stop)?;
    let stubs = plan::stub_headers(&scratch)?;
    let settled = plan::settle_contracts(project, config, artifacts.as_deref())?;
    for one in &settled {
        let copies = match &artifacts {
            Some(_) => format!("; the harness without it is {}", one.file.display()),
            None => String::new(),
        };
        for condition in &one.conditions {
            let text = format!(
                "{} no longer assumes `{condition}`: it is not in contracts.toml, and counts as rejected{copies}",
                one.harness
            );
            note(fan, Level::Info, text);
        }
    }
    let mut harnesses = plan::harnesses(project, config, selected, &library, &stubs)?;
    if artifacts.is_some() {
        plan::use_settled(&mut harnesses, &settled);
    }
    for text in plan::preconditions(project, &harnesses)? {
        note(fan, Level::Info, text);
    }
    store::temporary_files()?;
    if artifacts.is_none() {
        for harness in &harnesses {
            package_folder(&project.cegar.join("corpus").join(&harness.name))?;
        }
        if !budget.no_emit {
            package_folder(&project.cegar.join("tests"))?;
            package_folder(&project.cegar.join("findings"))?;
        }
    }
    readable_record(&project.cegar)?;
    // All commands lock in this order, so that none waits for another one that waits for it.
    let mut names: Vec<&str> = harnesses.iter().map(|h| h.name.as_str()).collect();
    names.sort_unstable();
    for name in names {
        lock::hold(&scratch, name, &format!("harness `{name}`"), fan, stop)?;
    }
    fan.event(&Event::Compiling {
        what: format!("{} C sources", project.name),
        files: library.units.len(),
        from: library.from,
    });
    Ok(RunOptions {
        harnesses,
        settings,
        scratch,
        package: project.cegar.clone(),
        root: project.root.clone(),
        no_emit: budget.no_emit,
        artifacts,
        is_all: selected.is_empty(),
        jobs: 1,
        is_compiled: false,
    })
}

/// A folder of the package that the command writes to.
fn package_folder(path: &Path) -> Result<(), Error> {
    store::writable_dir(path).map_err(|why| {
        Error::Io(why.where_not_writable(
            "make it writable; or `cargo cegar ci --target-dir DIR`, which writes to DIR alone",
        ))
    })
}

/// Makes sure that the record of the tests that were written can be read, before a test is found that has to be added to it.
fn readable_record(package: &Path) -> Result<(), Error> {
    match crate::emit::package::readable_record(package) {
        Ok(_) => Ok(()),
        Err(EmitError::Io { path, why }) => Err(Error::io("read", path, why)),
        Err(EmitError::Record { path, why }) => Err(Error::usage(
            format!(
                "`{}` is no record of the tests that were written: {why}",
                path.display()
            ),
            "take it from version control; or delete it: then every test that is there counts as edited by hand",
        )),
    }
}

/// `cargo cegar replay`
pub(super) fn replay(
    manners: &Manners,
    args: &ReplayArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (project, config) = open(manners)?;
    plan::check_selection(&project, &config, std::slice::from_ref(&args.harness))?;
    let inputs = inputs(&project, args)?;
    let mut fan = reporter(manners, false, &project.root);
    let budget = BudgetArgs {
        no_emit: true,
        ..BudgetArgs::default()
    };
    let selected = std::slice::from_ref(&args.harness);
    let run = run_options(&project, &config, selected, &budget, None, &mut fan, stop)?;
    let outcome = campaign::replay(&ReplayOptions { run, inputs }, &mut fan, stop);
    conclude(outcome, fan, false, stop)
}

fn inputs(project: &Project, args: &ReplayArgs) -> Result<Vec<PathBuf>, Error> {
    let corpus = project.cegar.join("corpus").join(&args.harness);
    let given = if args.inputs.is_empty() {
        vec![corpus]
    } else {
        args.inputs.clone()
    };
    let mut inputs = Vec::new();
    for path in given {
        if path.is_dir() {
            let mut files = Vec::new();
            let entries = std::fs::read_dir(&path).map_err(|why| Error::io("read", &path, why))?;
            for entry in entries {
                let file = entry.map_err(|why| Error::io("read", &path, why))?.path();
                if file.is_file() {
                    files.push(file);
                }
            }
            files.sort();
            inputs.extend(files);
        } else if path.is_file() {
            inputs.push(path);
        } else if !args.inputs.is_empty() {
            return Err(Error::nothing(
                format!("there is no input `{}`", path.display()),
                "name a file, or a folder of them",
            ));
        }
    }
    if inputs.is_empty() {
        return Err(Error::nothing(
            format!("`{}` has no corpus yet", args.harness),
            "`cargo cegar run` makes one; or name the inputs",
        ));
    }
    Ok(inputs)
}

/// `cargo cegar build`
pub(super) fn build(
    manners: &Manners,
    args: &BuildArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (project, config) = open(manners)?;
    let mut fan = reporter(manners, false, &project.root);
    let scratch = project.scratch();
    store::writable_dir(&scratch)?;
    // Before the long part: without it the capture would be for nothing.
    let clang = if args.no_compile {
        None
    } else {
        Some(compiler(&config)?)
    };
    let library = plan::library(&project, &config, true, &mut fan, stop)?;
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

fn finish(mut fan: Fan) -> Result<ExitCode, Error> {
    fan.finish()
        .map_err(|why| Error::io("write", "the report", why))?;
    Ok(ExitCode::Clean)
}

/// Functions that the library calls and that neither it nor the stub library defines: each will be a mock. A preview,
/// through the symbol tables; the campaign reports what it really mocked.
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

/// `cargo cegar init`
pub(super) fn init(
    manners: &Manners,
    args: &InitArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (project, config) = open(manners)?;
    let set_up = project.cegar.join("cegar.toml").is_file();
    if !args.ci.is_empty()
        && set_up
        && args.function.is_none()
        && args.name.is_none()
        && args.header.is_none()
        && args.from_fuzz.is_none()
        && !args.from_tests
    {
        let mut fan = reporter(manners, false, &project.root);
        super::init_ci::init_ci(manners, args, &mut fan, stop)?;
        return finish(fan);
    }
    let options = InitOptions {
        header: args.header.clone(),
        function: args.function.clone(),
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
    let mut fan = reporter(manners, false, &project.root);
    // Without it the package can still be written.
    let clang = match compiler(&config) {
        Ok(clang) => Some(clang),
        Err(why) if args.header.is_some() || args.function.is_some() || args.from_tests => {
            return Err(why);
        }
        Err(_) => None,
    };
    let done = crate::init::init(&project, &config, clang.as_ref(), &options, &mut fan, stop)?;
    let here = std::env::current_dir().unwrap_or_default();
    let show = |path: &Path| {
        path.strip_prefix(&here)
            .unwrap_or(path)
            .display()
            .to_string()
    };
    let is_harness = |path: &PathBuf| done.harnesses.iter().any(|harness| harness.file == *path);
    for path in done.written.iter().filter(|path| !is_harness(path)) {
        note(&mut fan, Level::Info, format!("wrote {}", show(path)));
    }
    for path in &done.kept {
        note(
            &mut fan,
            Level::Info,
            format!("kept {}, which was there", show(path)),
        );
    }
    if let Some(path) = &done.workspace {
        note(
            &mut fan,
            Level::Info,
            format!("excluded the package from the workspace in {}", show(path)),
        );
    }
    if let Some(header) = &done.header {
        note(&mut fan, Level::Info, format!("header {}", show(header)));
    }
    for harness in &done.harnesses {
        let verb = match (
            done.written.contains(&harness.file),
            done.kept.contains(&harness.file),
        ) {
            (true, _) => "wrote",
            (_, true) => continue,
            _ => "took over",
        };
        let text = format!("{verb} {}: {}", show(&harness.file), harness.what);
        note(&mut fan, Level::Info, text);
    }
    for (why, names) in by_reason(&done.skipped) {
        // A header has hundreds of functions; all of them are for -v.
        let shown = if manners.verbose > 0 {
            names.len()
        } else {
            SHOWN
        };
        let mut text = format!("no harness, {why}: ");
        text += &names
            .iter()
            .take(shown)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        if names.len() > shown {
            text += &format!(" and {} more", names.len() - shown);
        }
        note(&mut fan, Level::Info, text);
    }
    for text in &done.notes {
        note(&mut fan, Level::Info, text.clone());
    }
    for text in crate::init::table(&done) {
        note(&mut fan, Level::Info, text);
    }
    if let Some(to_do) = &done.to_do {
        note(&mut fan, Level::Info, format!("next: {to_do}"));
    }
    let package = match project.member {
        true => String::new(),
        false => format!(" -p {}", project.name),
    };
    let tests = show(&project.cegar.join("Cargo.toml"));
    let tests = shlex::try_quote(&tests).unwrap_or_else(|_| tests.as_str().into());
    note(
        &mut fan,
        Level::Info,
        format!(
            "then: cargo cegar run{package}; the tests, a workspace of their own: cargo test --manifest-path {tests}"
        ),
    );
    super::init_ci::init_ci(manners, args, &mut fan, stop)?;
    finish(fan)
}

/// Names that are shown for one reason.
const SHOWN: usize = 6;

/// What was skipped, by the reasons, in the order in which they come up.
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

/// `cargo cegar list`
pub(super) fn list(manners: &Manners) -> Result<ExitCode, Error> {
    let (project, config) = open(manners)?;
    let listed = listing::list(&project, &config)?;
    if listed.is_empty() {
        return Err(Error::nothing(
            format!("`{}` has no harness", project.name),
            "`cargo cegar init` writes a first one",
        ));
    }
    let mut text = String::new();
    for harness in &listed {
        if manners.message_format == MessageFormat::Json {
            let mut line = serde_json::to_value(harness)
                .map_err(|why| Error::io("write", "the list", why.into()))?;
            line["reason"] = "harness".into();
            text.push_str(&format!("{line}\n"));
            continue;
        }
        let entry = harness.entry.as_deref().unwrap_or("no entry");
        text.push_str(&format!(
            "{}  {}  {entry}",
            harness.name,
            harness.file.display()
        ));
        text.push_str(&format!("  corpus {}", harness.corpus));
        if let Some(goals) = &harness.goals {
            text.push_str(&format!("  checks {}", goals.checks.words()));
            if goals.checks.is_vacuous() {
                text.push_str(" (vacuous)");
            }
        }
        text.push('\n');
        let state = |name: &String| harness.findings.iter().find(|known| known.name == *name);
        for test in &harness.tests {
            let state = state(test).map_or(String::new(), |known| format!("  {}", known.words()));
            text.push_str(&format!("    {test}{state}\n"));
        }
        let untested = |known: &&Remembered| !harness.tests.contains(&known.name);
        for known in harness.findings.iter().filter(untested) {
            text.push_str(&format!(
                "    {}  {}, without a test\n",
                known.name,
                known.words()
            ));
        }
    }
    print(&text)
}

/// Results go to stdout; a reader that has gone away is not an error.
pub(super) fn print(text: &str) -> Result<ExitCode, Error> {
    use std::io::Write as _;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(why) if why.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("write", "standard output", why))
        }
        _ => Ok(ExitCode::Clean),
    }
}
