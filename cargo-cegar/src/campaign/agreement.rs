//! Compares the machine's run of a tape with a native run of the same tape.
//!
//! Both read the same module, so they must agree on everything that a run leaves behind: how it
//! ended, the blocks it entered and how often, the choices it made, and its output. If they
//! disagree, one of them misinterprets C, and conclusions that the engine draws from its run do not
//! hold for the program that people run.

use cegar_fuzz::native::{Outcome, Run, RunOptions};
use cegar_model::machine::{Execution, Outcome as Seen};
use cegar_model::program::{Callee, FuncId, FunctionKind, Op, Program, Property, plain};

use super::findings::{events, told};
use super::native::fault;

/// Returns how a native run and the machine's run of one tape differ, or `None` if they agree.
/// `recorded` says what the native run was asked to record; only that is compared.
///
/// Block counts are not compared in functions for which the native run uses the platform's own
/// implementation. After an invalid access a native run may do anything, so then only the fault
/// itself is compared.
pub fn disagreement(
    program: &Program,
    tape: &[u8],
    machine: &Execution,
    native: &Run,
    recorded: RunOptions,
) -> Option<String> {
    let same = match (&machine.outcome, &native.outcome) {
        (Seen::Returned(_), Outcome::Returned) => true,
        (Seen::Exited(a), Outcome::Exited(b)) => a == b,
        (Seen::Rejected, Outcome::Rejected) | (Seen::OutOfMemory, Outcome::OutOfMemory) => true,
        (Seen::Violated(violation), outcome) => fault(outcome) == Some(violation.kind.property()),
        // A native run shows this as a segmentation fault, or reaches the time limit first.
        (Seen::StackOverflow, Outcome::Crashed(_) | Outcome::Asan(_)) => return None,
        // Neither run ended by itself: there is nothing to compare.
        (Seen::StepLimit | Seen::Unmodelled(_), _) | (_, Outcome::Timeout) => return None,
        _ => false,
    };
    if !same {
        return Some(format!(
            "the machine: {:?}; natively it {}",
            machine.outcome,
            told(&native.outcome)
        ));
    }
    if let Seen::Violated(violation) = &machine.outcome
        && violation.kind.property() == Property::Memory
    {
        return None;
    }
    coverage(program, machine, native)
        .or_else(|| {
            (machine.consumed as u64 != native.consumed).then(|| {
                format!(
                    "the machine took {} bytes of the tape, the native run {}",
                    machine.consumed, native.consumed
                )
            })
        })
        .or_else(|| {
            (recorded.events)
                .then(|| first_difference(&events(tape, machine), &native.events))
                .flatten()
                .map(|how| format!("choices differ, machine and native: {how}"))
        })
        .or_else(|| {
            (recorded.output && is_whole(&native.output))
                .then(|| first_difference(&joined(&machine.output), &joined(&native.output)))
                .flatten()
                .map(|how| format!("transcripts differ, machine and native: {how}"))
        })
}

fn coverage(program: &Program, machine: &Execution, native: &Run) -> Option<String> {
    let mut counted = vec![0u8; machine.counts.len()];
    for &(block, count) in &native.blocks {
        if let Some(slot) = counted.get_mut(block as usize) {
            *slot = count;
        }
    }
    let differing: Vec<usize> = (0..counted.len())
        .filter(|&number| machine.counts[number] != counted[number])
        .collect();
    if differing.is_empty() {
        return None;
    }
    let apart = engine_side(program);
    let differing: Vec<String> = differing
        .into_iter()
        .filter_map(|number| Some((number, program.blocks.get(number)?.function)))
        .filter(|(_, function)| !apart[function.index()])
        .map(|(number, function)| {
            let (a, b) = (machine.counts[number], counted[number]);
            format!(
                "block {number} of `{}`: {a} and {b}",
                program.function(function).name
            )
        })
        .take(5)
        .collect();
    (!differing.is_empty()).then(|| {
        format!(
            "coverage differs, machine and native: {}",
            differing.join(", ")
        )
    })
}

/// The stub library's functions that interpret a format string at run time. The engine expands
/// literal formats beforehand; the conversions themselves are done by the same functions in both.
const INTERPRETERS: [&str; 21] = [
    "CRUNNER___fprintf_chk",
    "CRUNNER___isoc23_fscanf",
    "CRUNNER___isoc23_scanf",
    "CRUNNER___isoc99_fscanf",
    "CRUNNER___isoc99_scanf",
    "CRUNNER___printf_chk",
    "CRUNNER_fprintf",
    "CRUNNER_fscanf",
    "CRUNNER_printf",
    "CRUNNER_scanf",
    "CRUNNER_vfprintf",
    "CRUNNER_vfscanf",
    "CRUNNER_vprintf",
    "CRUNNER_vscanf",
    "crunner_scan",
    "format_line",
    "include",
    "is_blank",
    "read_conversion",
    "read_set",
    "scan_conversion",
];

/// Whether a function is the engine's expansion of one literal format, which an interpreter handles
/// natively.
fn is_of_literal(program: &Program, function: FuncId) -> bool {
    let function = program.function(function);
    let is_numbered = plain(&function.name) != function.name.trim_start_matches("CRUNNER_");
    function.kind == FunctionKind::EngineOnly && is_numbered
}

/// Whether a function reads from a string. Natively the platform's implementation does that.
fn is_of_string(program: &Program, function: FuncId) -> bool {
    plain(&program.function(function).name).ends_with("sscanf")
}

/// Marks the functions whose block counts are not comparable: those that only the engine has, since
/// natively the platform's implementation runs, and the stubs that they call (the scanner below
/// `sscanf` is also that of `scanf`). Functions whose call is itself the violation are marked too:
/// only the native run enters them, since the machine ends at the call.
fn engine_side(program: &Program) -> Vec<bool> {
    let kind = |function: FuncId| program.function(function).kind;
    let fails = cegar_stubs::failing_functions().iter();
    let fails: Vec<&str> = fails.map(|function| function.name).collect();
    let functions = program.functions.iter();
    let mut apart: Vec<bool> = functions
        .map(|f| fails.contains(&f.name.as_str()))
        .collect();
    let mut open: Vec<FuncId> = (0..program.functions.len() as u32)
        .map(FuncId)
        .filter(|&function| kind(function) == FunctionKind::EngineOnly)
        .collect();
    if open
        .iter()
        .any(|&function| is_of_literal(program, function))
    {
        for (slot, function) in apart.iter_mut().zip(&program.functions) {
            *slot |= INTERPRETERS.contains(&function.name.as_str());
        }
    }
    while let Some(function) = open.pop() {
        if std::mem::replace(&mut apart[function.index()], true) {
            continue;
        }
        if is_of_literal(program, function) && !is_of_string(program, function) {
            continue;
        }
        for block in program.function(function).blocks.clone() {
            let Some(block) = program.blocks.get(block as usize) else {
                continue;
            };
            for inst in &block.ops {
                if let Op::Call(call) = &inst.op
                    && let Callee::Direct(callee) = call.callee
                    && kind(callee) == FunctionKind::Stub
                {
                    open.push(callee);
                }
            }
        }
    }
    apart
}

/// Whether the native runtime recorded the whole transcript: it stops recording at one mebibyte,
/// including the header of each record.
fn is_whole(output: &[(i32, Vec<u8>)]) -> bool {
    output
        .iter()
        .map(|(_, bytes)| bytes.len() + 8)
        .sum::<usize>()
        < 1 << 20
}

/// Merges adjacent records of the same stream.
fn joined(output: &[(i32, Vec<u8>)]) -> Vec<(i32, Vec<u8>)> {
    let mut all: Vec<(i32, Vec<u8>)> = Vec::new();
    for (stream, bytes) in output.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        match all.last_mut() {
            Some((last, joined)) if last == stream => joined.extend_from_slice(bytes),
            _ => all.push((*stream, bytes.clone())),
        }
    }
    all
}

fn first_difference<T: PartialEq + std::fmt::Debug>(
    machine: &[(T, Vec<u8>)],
    native: &[(T, Vec<u8>)],
) -> Option<String> {
    let show = |entry: Option<&(T, Vec<u8>)>| match entry {
        Some((whose, bytes)) => format!("{whose:?} \"{}\"", bytes.escape_ascii()),
        None => "nothing".to_owned(),
    };
    (0..machine.len().max(native.len()))
        .find(|&i| machine.get(i) != native.get(i))
        .map(|i| {
            format!(
                "number {i}: {} and {}",
                show(machine.get(i)),
                show(native.get(i))
            )
        })
}
