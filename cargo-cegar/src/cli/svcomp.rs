//! `cargo cegar check --svcomp TASK`: runs a separate check for each question of a task, each with
//! the full time of the command.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::args::{CheckArgs, GlobalArgs};
use super::check::{Asked, program};
use super::{note, reporter};
use crate::compile::{Compiler, Unit};
use crate::config::nearest;
use crate::error::Error;
use crate::event::{Event, Level, Reporter};
use crate::exit::ExitCode;
use crate::explain::StoredCampaign;
use crate::svcomp::{Answered, Goal, Question, Task, model};
use crate::verdict::Verdict;

/// Runs the command. The exit code is 100 if a property is violated, otherwise that of the first
/// question with a code other than 0.
pub(super) fn check(
    global_args: &GlobalArgs,
    args: &CheckArgs,
    file: &Path,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let here = std::env::current_dir().map_err(|why| Error::io("read", ".", why))?;
    let task = Task::read(&here.join(file))?;
    let questions = chosen(&task, &args.only)?;
    let mut codes = Vec::new();
    for question in questions {
        let Some(goal) = question.goal else {
            let mut fan = reporter(global_args, false, &here);
            let message = format!("{}: there is no check for this property", question.name);
            note(&mut fan, Level::Info, message);
            continue;
        };
        let asked = Asked {
            files: &task.files,
            properties: Some(goal.properties()),
            question: Some((question, goal, task.model)),
        };
        codes.push(program(global_args, args, &asked, stop)?);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if codes.is_empty() {
        return Err(Error::nothing(
            format!("`{}` asks for nothing that can be checked", file.display()),
            "there are checks for unreach-call, no-overflow and valid-memsafety",
        ));
    }
    if codes.contains(&ExitCode::Violation) {
        return Ok(ExitCode::Violation);
    }
    let other = codes.into_iter().find(|&code| code != ExitCode::Clean);
    Ok(other.unwrap_or(ExitCode::Clean))
}

/// The questions to ask: all, or the named ones.
fn chosen<'t>(task: &'t Task, only: &[String]) -> Result<Vec<&'t Question>, Error> {
    let names = || task.questions.iter().map(|question| question.name.as_str());
    if let Some(unknown) = only
        .iter()
        .find(|name| !names().any(|known| known == *name))
    {
        let help = match nearest(unknown, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it asks for: {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(Error::usage(
            format!("the task has no property `{unknown}`"),
            help,
        ));
    }
    let wanted = |question: &&Question| only.is_empty() || only.contains(&question.name);
    Ok(task.questions.iter().filter(wanted).collect())
}

/// Rejects a task for 32 bits whose program has another meaning on this platform.
pub(super) fn require_one_model(
    compiler: &Compiler,
    units: &[Unit],
    scratch: &Path,
) -> Result<(), Error> {
    model::is_same(compiler, units, scratch)?.map_err(|why| {
        Error::usage(
            format!("the task's data model is ILP32, and the program depends on it: {why}"),
            "programs are executed as this platform executes them, with 64-bit `long` and pointers",
        )
    })
}

/// Reports the answer that a verdict gives to a question.
pub(super) fn tell(
    question: &Question,
    goal: Goal,
    verdict: Verdict,
    scratch: &Path,
    reporter: &mut dyn Reporter,
) -> Result<(), Error> {
    let violated: Vec<_> = match verdict {
        Verdict::Violated => {
            let left = StoredCampaign::read(scratch)?;
            left.kept
                .findings
                .iter()
                .map(|(_, found)| found.kind)
                .collect()
        }
        Verdict::Proved | Verdict::Open => Vec::new(),
    };
    let answer = goal.answer(verdict, &violated);
    reporter.event(&Event::Answered(Answered::new(question, answer)));
    Ok(())
}
