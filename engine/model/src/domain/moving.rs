//! What changes from one state to another: variables with a single value in each, numbers whose
//! bounds move, and objects whose contents differ.
//!
//! When a loop head takes in another iteration, other variables are related to these
//! ([`super::linear::Step`], [`Drift`]).

use std::sync::Arc;

use super::linear::{Drift, Step, Var};
use super::num::Num;
use super::space::{Names, ObjId, Object};
use super::state::State;
use super::value::Value;

/// The most variables that others are related to when two states are joined.
const STEPS: usize = 4;
/// The most numbers that are related to them.
const DRIFTS: usize = 8;

impl State {
    /// The single objects whose contents differ in another state, as they are here and there.
    pub(super) fn changed<'a>(
        &'a self,
        other: &'a State,
        names: &'a Names<'_>,
    ) -> impl Iterator<Item = (ObjId, &'a Object, &'a Object)> {
        self.objects.iter().filter_map(move |(&id, object)| {
            let there = other.objects.get(&id)?;
            let changes = !Arc::ptr_eq(&object.contents, &there.contents);
            (changes && names.info(id).is_unique).then_some((id, object, there))
        })
    }

    /// The variables with different single values here and there, addresses first and then by the
    /// size of the step; and the numbers whose bounds differ.
    pub(super) fn steps(&self, other: &State, names: &Names<'_>) -> (Vec<Step>, Vec<Drift>) {
        let (mut steps, mut drifts) = (Vec::new(), Vec::new());
        let mut compare = |var, a: &Value, b: &Value| {
            steps.extend(step(var, (a, b), names));
            drifts.extend(drift(var, (a, b), names));
        };
        for (reg, a) in &self.registers {
            if let Some(b) = other.registers.get(reg) {
                compare(Var::Reg(reg.0), a, b);
            }
        }
        for (&(id, which), a) in &self.nuls {
            if let Some(b) = other.nul(id, which, names) {
                compare(Var::Nul(id, which), &Value::number(*a), &Value::number(b));
            }
        }
        self.rows_of_both(other, |var, a, b| {
            compare(var, &Value::number(*a), &Value::number(*b));
        });
        for (id, object, there) in self.changed(other, names) {
            for (at, len, a) in object.contents.cells() {
                let at_offset = Num::exactly(64, at.into());
                let b = there.contents.load(&at_offset, len, names);
                compare(Var::Cell(id, at, len), a, &b);
            }
        }
        steps.sort_by_key(|step| (!step.address, step.by().abs(), step.var));
        steps.truncate(STEPS);
        drifts.truncate(DRIFTS);
        (steps, drifts)
    }
}

/// A variable with a single value in each of two states, if the values differ.
fn step(var: Var, (a, b): (&Value, &Value), names: &Names<'_>) -> Option<Step> {
    let single = |value: &Value| match (value.plain(), value.single_target()) {
        (Some(num), _) => num.as_constant().map(|_| (None, i128::from(num.least))),
        (None, Some((id, offset))) => {
            let single = offset.as_constant().filter(|_| names.info(id).is_unique);
            single.map(|_| (Some(id), i128::from(offset.least)))
        }
        (None, None) => None,
    };
    let ((of, here), (to, there)) = (single(a)?, single(b)?);
    let moves = of == to && here != there && here.abs().max(there.abs()) < 1 << 31;
    moves.then_some(Step {
        var,
        here,
        there,
        address: of.is_some(),
    })
}

/// A number, or an offset, whose bounds differ in two states.
fn drift(var: Var, (a, b): (&Value, &Value), names: &Names<'_>) -> Option<Drift> {
    let (a, b) = match (a.single_target(), b.single_target()) {
        (Some((id, a)), Some((to, b))) if id == to && names.info(id).is_unique => (a, b),
        _ => (a.plain()?, b.plain()?),
    };
    let is_one = a.as_constant().is_some() && b.as_constant().is_some();
    let moves = a.least != b.least || a.most != b.most;
    (moves && !is_one).then_some(Drift {
        var,
        least: (a.least.into(), b.least.into()),
        most: (a.most.into(), b.most.into()),
    })
}
