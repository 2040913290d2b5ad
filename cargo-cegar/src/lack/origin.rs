//! Traces a value to an input of the harness, where a condition on it can be stated.

use std::collections::BTreeSet;

use cegar_model::domain::flow::Flow;
use cegar_model::program::ir::{
    BlockId, Callee, CastKind, FuncId, FunctionKind, Op, Operand, Program, Reg, Terminator,
};
use cegar_model::program::plain;

/// The maximum number of steps of the backward search.
const STEPS: usize = 64;

/// The origin of a value.
pub(super) struct Origin {
    /// The name of the variable there.
    name: String,
    /// The source of the value, for users.
    giver: String,
    /// The place where a condition can be stated, for users.
    place: String,
    /// Whether the value is the input itself, not only computed from it.
    exact: bool,
}

impl Origin {
    /// The statement with which these conditions hold for the value.
    pub fn help(&self, conditions: &[String]) -> Option<String> {
        if conditions.is_empty() {
            return None;
        }
        let (name, giver, place) = (&self.name, &self.giver, &self.place);
        if !self.exact {
            return Some(format!(
                "it is computed from `{name}`, which comes from {giver}: if the library is not \
                 meant for every value, a crunner_assume(...) about `{name}` {place} may help"
            ));
        }
        let all: Vec<String> = conditions.iter().map(|c| format!("{name} {c}")).collect();
        Some(format!(
            "`{name}` comes from {giver}: if the library is not meant for more, \
             `crunner_assume({});` {place}",
            all.join(" && ")
        ))
    }
}

/// The origin of a value that comes from a choice of the harness or from an external function, or
/// that is an argument of the checked function.
pub(super) fn of(program: &Program, function: FuncId, operand: Operand) -> Option<Origin> {
    let mut seen = BTreeSet::new();
    let mut open = vec![(function, operand, true)];
    for _ in 0..STEPS {
        let (function, operand, exact) = open.pop()?;
        let Operand::Reg(reg) = operand else { continue };
        if !seen.insert((function, reg)) {
            continue;
        }
        let flow = Flow::of(program, function);
        match flow.made(program, reg) {
            Some(Op::Cast { kind, a, .. }) => {
                let same = matches!(kind, CastKind::SExt | CastKind::ZExt);
                open.push((function, *a, exact && same));
            }
            Some(Op::Copy { a, .. } | Op::Freeze { a, .. }) => open.push((function, *a, exact)),
            Some(Op::Bin { a, b, .. } | Op::Select { a, b, .. }) => {
                open.extend([(function, *b, false), (function, *a, false)]);
            }
            Some(Op::Call(call)) => {
                let Callee::Direct(callee) = call.callee else {
                    continue;
                };
                if let Some(mut origin) = given(program, function, reg, callee) {
                    origin.exact = exact;
                    return Some(origin);
                }
                open.extend(results(program, callee, reg.0.wrapping_sub(call.dst.0)));
            }
            None if reg.index() < program.function(function).params.len() => {
                let callers = arguments(program, function, reg);
                let is_outer =
                    |caller: &FuncId| program.function(*caller).kind != FunctionKind::User;
                if callers.iter().any(|(caller, _)| is_outer(caller)) {
                    return argument(program, function, reg, exact);
                }
                let sole = callers.len() == 1;
                open.extend(
                    callers
                        .into_iter()
                        .map(|(caller, operand)| (caller, operand, exact && sole)),
                );
            }
            _ => {}
        }
    }
    None
}

fn name_of(program: &Program, function: FuncId, reg: Reg) -> Option<String> {
    let name = program.function(function).names.get(reg.index())?;
    (!name.is_empty()).then(|| name.to_string())
}

/// The origin of the result of a call that makes a choice, or that calls an external function.
fn given(program: &Program, function: FuncId, reg: Reg, callee: FuncId) -> Option<Origin> {
    let of = program.function(callee);
    let plain = plain(&of.name);
    let giver = match of.kind {
        FunctionKind::Mock => format!("the external function `{plain}`"),
        _ if plain.starts_with("crunner_") => format!("{plain}()"),
        _ => return None,
    };
    if program.function(function).kind != FunctionKind::User {
        return None;
    }
    let line = program.function(function).lines.get(reg.index()).copied();
    let file = program
        .files
        .get(program.function(function).pos.file as usize);
    let place = match (file, line.filter(|line| *line > 0)) {
        (Some(file), Some(line)) => format!("behind {file}:{line}"),
        _ => "behind that call".to_owned(),
    };
    Some(Origin {
        name: name_of(program, function, reg)?,
        giver,
        place,
        exact: true,
    })
}

/// The origin of an argument with which the checked function was called.
fn argument(program: &Program, function: FuncId, reg: Reg, exact: bool) -> Option<Origin> {
    let called = plain(&program.function(function).name);
    if program.function(function).kind != FunctionKind::User {
        return None;
    }
    Some(Origin {
        name: name_of(program, function, reg)?,
        giver: "the input".to_owned(),
        place: format!("at the beginning of `{called}`"),
        exact,
    })
}

/// The arguments of all calls of a function for one of its parameters.
fn arguments(program: &Program, function: FuncId, reg: Reg) -> Vec<(FuncId, Operand)> {
    let mut all = Vec::new();
    for block in &program.blocks {
        for inst in &block.ops {
            if let Op::Call(call) = &inst.op
                && call.callee == Callee::Direct(function)
                && let Some(argument) = call.args.get(reg.index())
            {
                all.push((block.function, argument.value));
            }
        }
    }
    all
}

/// The operands of all returns of a function for one of its results.
fn results(program: &Program, function: FuncId, which: u32) -> Vec<(FuncId, Operand, bool)> {
    let blocks = program.function(function).blocks.clone().map(BlockId);
    let values = blocks.filter_map(|block| match &program.block(block).end {
        Terminator::Return { values } => values.get(which as usize).copied(),
        _ => None,
    });
    values.map(|value| (function, value, false)).collect()
}
