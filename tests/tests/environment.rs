//! Small programs in pairs: the world around a program can make the first one fail, but not the
//! second.
//!
//! The engine is exact about C, but a proof is about the real program, and the world in which that
//! runs may do all that its prototypes, POSIX and the C standard allow. So each program of
//! `tests/environment` declares whether such a world breaks it. The platform's C compiler confirms
//! that: linked with a hostile file that respects the prototypes, the first program has to fail and
//! the second must not. Then the tool checks both. A program that breaks may be proved only if the
//! verdict names the narrowing that makes it so, and only until the user lifts that narrowing. A
//! program that holds must never be reported as violated, and must nearly always be proved.
//! Deviations are listed in `known.txt`, which is exact in both directions, so that the list can
//! only shrink.

#[path = "environment/list.rs"]
mod list;
#[path = "environment/native.rs"]
mod native;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use cegar_tests::{Ended, Project, Tool};
use list::{Listed, Native, World};

/// The time for a check; it suffices for nearly all programs. Programs with a known fault get
/// `LONG`, so that a slow machine does not hide the fault.
const TIME: &str = "4s";
const LONG: &str = "20s";
/// The time for a second check of programs that hold and are open after the first check.
const SECOND: &str = "12s";
const LIMIT: Duration = Duration::from_secs(120);
/// The percentage of the programs that hold which have to be proved. On an idle machine 90 % are
/// proved; a busy machine has less time.
const PROVED: usize = 85;

/// The ways in which a verdict is wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fault {
    /// The program breaks and is proved, and no printed assumption explains that.
    Proved,
    /// The program breaks, is proved under an assumption, and stays proved when the assumption is
    /// lifted (or cannot be lifted).
    StaysProved,
    /// The program holds and is reported as violated.
    Violated,
    /// There is no verdict.
    None,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Proved => "proved",
            Fault::StaysProved => "stays-proved",
            Fault::Violated => "violated",
            Fault::None => "no-verdict",
        })
    }
}

/// The tool's answer for a program.
struct Said {
    verdict: String,
    /// Identifiers of the assumptions that were printed.
    assumed: BTreeSet<String>,
    /// Whether the line at which the program fails natively has checks, all of them are proved, and
    /// no violation was found there.
    line_proved: bool,
    fault: Option<Fault>,
}

/// Checks a program with the tool.
fn ask(program: &Listed, time: &str, more: &[&str]) -> Ended {
    let project = Project::empty();
    let path = program.path.to_string_lossy();
    let mut words = vec!["check", &path, "--property", &program.property];
    words.extend(["--max-time", time, "--no-emit", "--message-format", "json"]);
    words.extend(program.options.iter().map(String::as_str));
    words.extend(more);
    Tool::new(project.path(), words).limit(LIMIT).run()
}

/// Reads the tool's output. `line` is the line at which the program fails natively.
fn read(ended: &Ended, line: Option<u64>) -> Said {
    let messages = match ended.stdout.contains("\"reason\":\"finished\"") {
        true => ended.messages(),
        false => Vec::new(),
    };
    let finished = messages.iter().find(|m| m["reason"] == "finished");
    let assumptions = finished.and_then(|m| m["assumptions"].as_array());
    let here = messages.iter().filter(|m| {
        m["reason"] == "goal"
            && m["kind"] == "check"
            && line.is_some()
            && m["place"]["line"].as_u64() == line
    });
    let found = messages
        .iter()
        .any(|m| m["reason"] == "found" && line.is_some() && m["place"]["line"].as_u64() == line);
    // A check that is proved only if others hold (`given`) is not a claim.
    let claims: Vec<bool> = here
        .map(|m| {
            let given = m["given"].as_array().is_some_and(|given| !given.is_empty());
            !given && (m["status"] == "proved" || m["status"] == "unreachable")
        })
        .collect();
    Said {
        verdict: finished
            .and_then(|m| m["verdict"].as_str())
            .unwrap_or("none")
            .to_owned(),
        assumed: assumptions
            .into_iter()
            .flatten()
            .filter_map(|assumption| assumption["id"].as_str())
            .map(str::to_owned)
            .collect(),
        line_proved: !found && !claims.is_empty() && claims.iter().all(|claimed| *claimed),
        fault: None,
    }
}

/// Checks a program and judges the verdict. For a program that breaks it does not matter whether a
/// violation is found, so the fuzzer is off: the prover ends by itself, the fuzzer never does.
fn judged(program: &Listed, line: Option<u64>, known: bool) -> Said {
    let sides: &[&str] = match program.world {
        World::Breaks => &["--engine-only"],
        World::Holds => &[],
    };
    let mut said = read(&ask(program, TIME, sides), line);
    if said.verdict == "open" && (known || program.world == World::Holds) {
        let time = if known { LONG } else { SECOND };
        said = read(&ask(program, time, &["--engine-only"]), line);
    }
    let claimed = |said: &Said| said.verdict == "proved" || said.line_proved;
    said.fault = match (program.world, said.verdict.as_str()) {
        (_, "none") => Some(Fault::None),
        (World::Holds, "violated") => Some(Fault::Violated),
        (World::Breaks, _) if claimed(&said) => {
            let excuse = program
                .assumptions
                .iter()
                .find(|id| said.assumed.contains(*id));
            match excuse {
                None => Some(Fault::Proved),
                Some(id) => {
                    let words = ["--engine-only", "--no-assume", id];
                    let lifted = read(&ask(program, TIME, &words), line);
                    let no = lifted.verdict == "none" || claimed(&lifted);
                    no.then_some(Fault::StaysProved)
                }
            }
        }
        _ => None,
    };
    said
}

/// Calls `work` for each program, on all cores. The results are in the order of the programs.
fn on_all<T: Send>(programs: &[Listed], work: impl Fn(&Listed) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, T>> = Mutex::new(BTreeMap::new());
    let cores = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(program) = programs.get(at) else {
                        break;
                    };
                    let result = work(program);
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.insert(at, result);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_values().collect()
}

/// The list follows its own rules: programs come in pairs, each hostile file is used, and few
/// failures are unconfirmed.
#[test]
fn the_list_is_in_order() {
    let all = list::all();
    assert!(all.len() >= 300, "{} programs", all.len());
    let names: BTreeSet<&str> = all.iter().map(|p| p.name.as_str()).collect();
    for program in &all {
        let twin = program.pair.clone()
            + match program.world {
                World::Breaks => "_holds",
                World::Holds => "_breaks",
            };
        assert!(names.contains(twin.as_str()), "{}: no {twin}", program.name);
        if program.world == World::Holds {
            assert!(
                program.assumptions.is_empty(),
                "{}: needs no excuse",
                program.name
            );
        }
        for id in &program.assumptions {
            assert!(list::plain(id), "{}: `{id}` is no identifier", program.name);
        }
    }
    for name in list::known().faults.keys() {
        assert!(
            names.contains(name.as_str()),
            "known.txt: no program {name}"
        );
    }
    let used: BTreeSet<&str> = all
        .iter()
        .filter(|p| matches!(p.native, Native::Linked { .. }))
        .map(|p| p.pair.as_str())
        .collect();
    for world in list::worlds() {
        assert!(
            used.contains(world.as_str()),
            "{world}.ext.c: nobody is linked with it"
        );
    }
    let breaking: Vec<&Listed> = all.iter().filter(|p| p.world == World::Breaks).collect();
    let unconfirmed = breaking
        .iter()
        .filter(|p| matches!(p.native, Native::None(_)));
    assert!(
        unconfirmed.count() * 20 <= breaking.len(),
        "too many that are not confirmed"
    );
}

/// The platform's compiler confirms the programs' declarations: programs that break fail in the
/// hostile world, programs that hold do not.
#[test]
fn a_hostile_world_breaks_what_it_can() {
    let programs = list::selected(|_| 5);
    let wrong: Vec<String> = on_all(&programs, native::contradiction)
        .into_iter()
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No program that the world can break is proved, except under a stated assumption; and programs
/// that it cannot break are proved.
#[test]
fn proofs_hold_in_every_world() {
    // More programs that break, since a proof of one of them would be wrong.
    let programs = list::selected(|world| match world {
        World::Breaks => 4,
        World::Holds => 8,
    });
    let known = list::known();
    let said = on_all(&programs, |program| {
        let line = native::failing_line(program);
        judged(program, line, known.faults.contains_key(&program.name))
    });

    let of = |world: World, verdict: &str| {
        let all = programs.iter().zip(&said);
        all.filter(|(p, s)| p.world == world && s.verdict == verdict)
            .count()
    };
    let verdicts = ["proved", "violated", "open", "none"];
    for (title, world) in [("can be broken", World::Breaks), ("cannot", World::Holds)] {
        let counts: Vec<String> = verdicts
            .iter()
            .map(|v| format!("{} {v}", of(world, v)))
            .collect();
        println!("{title}: {}", counts.join(", "));
    }

    let mut wrong = Vec::new();
    for (program, said) in programs.iter().zip(&said) {
        let name = &program.name;
        let told = known.faults.get(name).map(String::as_str);
        let fault = said.fault.map(|fault| fault.to_string());
        if program.world == World::Holds && said.verdict == "open" {
            println!("open: {name}");
        }
        match (fault, told) {
            (None, None) => {}
            (None, Some(was)) => wrong.push(format!(
                "{name}: no longer `{was}`: strike it from known.txt"
            )),
            (Some(fault), Some(was)) if fault == was => {}
            (Some(fault), was) => wrong.push(format!(
                "{name} {fault}: (known: {was:?}; verdict {}; assumed {:?}) {}",
                said.verdict, said.assumed, program.why
            )),
        }
    }
    println!("known to be wrong: {}", known.faults.len());
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        programs.len(),
        wrong.join("\n")
    );

    let holding = programs.iter().filter(|p| p.world == World::Holds).count();
    let proved = of(World::Holds, "proved");
    assert!(
        proved * 100 >= holding * PROVED,
        "only {proved} of {holding} are proved"
    );
}
