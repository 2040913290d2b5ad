//! Runs that stand for all runs.
//!
//! If a program asks for no input, one execution covers all its behaviour, provided that the
//! machine executes it as every platform would. Here each operation is examined before it is
//! executed, and the run is refused as soon as the machine decides something that the world may
//! decide otherwise: input, the number that an object has in addresses, contents that were never
//! written, functions that nobody defines, mathematical functions that libraries round differently.
//! The machine's shadow tracks uninitialised data. Addresses are recognised by their values, since
//! the numbers of objects are scattered ([`crate::program::ir::numbers`]): every value that looks
//! like an address counts as one, so that a coincidence refuses a run but hides nothing. An address
//! may be stored, loaded, compared with NULL or with another known address, and moved within its
//! object; every other use depends on its number.

mod address;
mod calls;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::outcome::{Execution, Outcome};
use super::step::{Run, Step};
use super::{Limits, Machine};
use crate::program::ir::{
    Block, FuncId, GLOBAL_OBJECTS, Inst, Op, Operand, Program, Terminator, Width, place_of,
};
use crate::term::fault;

/// An examined run.
#[derive(Clone, Debug)]
pub struct Exact {
    /// The execution.
    pub execution: Execution,
    /// The rules by which the model is narrower than the world on this run's path, and the places
    /// in the user's code.
    pub narrowings: BTreeMap<&'static str, BTreeSet<String>>,
    refused: Option<&'static str>,
}

impl Exact {
    /// The reason why the run does not stand for all runs; `None` if it does.
    pub fn refusal(&self) -> Option<&'static str> {
        if self.refused.is_some() {
            return self.refused;
        }
        if self.execution.undefined_read.is_some() {
            return Some("something depends on what was never written");
        }
        match self.execution.outcome {
            Outcome::Returned(_) | Outcome::Exited(_) | Outcome::Rejected => None,
            Outcome::Violated(_) => Some("a check is violated"),
            Outcome::StepLimit => Some("it does not end in time"),
            Outcome::OutOfMemory | Outcome::StackOverflow => Some("it needs too much memory"),
            Outcome::Unmodelled(_) => Some("it comes to something that is not modelled"),
        }
    }
}

/// The result of an examination. The error is the reason why the run is refused.
type Examined<T = ()> = Result<T, &'static str>;

/// The state of the examination of a run.
#[derive(Debug, Default)]
pub(super) struct Examination {
    narrowings: BTreeMap<&'static str, BTreeSet<String>>,
    refused: Option<&'static str>,
    /// Objects, by number, that may contain addresses.
    holders: FxHashSet<u32>,
    /// Objects of the stack whose addresses may still exist somewhere after the objects are gone.
    lasting: FxHashSet<u32>,
    /// Whether the program jumps to the addresses of blocks.
    labels: bool,
    /// The library's functions whose result may be any number with the sign of their argument.
    signs: FxHashSet<FuncId>,
}

impl Machine<'_> {
    /// Runs without a tape, for as long as the run stands for all runs.
    pub fn run_exact(&self, steps: u64) -> Exact {
        let limits = Limits {
            steps,
            path: 0,
            trace: 0,
            ..self.limits.clone()
        };
        let start = self.start.clone();
        let mut run = Run::<true>::new(self.program, &limits, start, &[], None, 0..0);
        let mut examination = Examination {
            labels: self
                .program
                .blocks
                .iter()
                .any(|block| matches!(block.end, Terminator::IndirectBranch { .. })),
            signs: calls::signs(self.program),
            ..Examination::default()
        };
        examination.holders = run.initial_holders(&examination);
        if self.program.lists_environment() {
            examination.refused = Some("it may look at the environment");
        }
        run.examination = Some(Box::new(examination));
        let (execution, examination) = run.finish_looking();
        Exact {
            execution,
            narrowings: examination.narrowings,
            refused: examination.refused,
        }
    }
}

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Examines the operation that is executed next.
    pub(super) fn look(&mut self, inst: &Inst) -> Step {
        let Some(mut examination) = self.examination.take() else {
            return Ok(());
        };
        self.pos = inst.pos;
        let seen = match examination.refused {
            Some(why) => Err(why),
            None => self.operation_seen(&mut examination, &inst.op),
        };
        self.looked(examination, seen)
    }

    /// Examines the end of a block.
    pub(super) fn examine_terminator(&mut self, block: &Block) -> Step {
        let Some(mut examination) = self.examination.take() else {
            return Ok(());
        };
        let seen = match &block.end {
            Terminator::Return { values } => self.returned_seen(&mut examination, values),
            Terminator::Switch { value, width, .. } => {
                self.refuse_addresses(&examination, &[(*value, *width)])
            }
            Terminator::Jump(_)
            | Terminator::Branch { .. }
            | Terminator::Unreachable { .. }
            | Terminator::IndirectBranch { .. } => Ok(()),
        };
        self.looked(examination, seen)
    }

    fn looked(&mut self, mut examination: Box<Examination>, seen: Examined) -> Step {
        let refused = seen.err();
        examination.refused = examination.refused.or(refused);
        self.examination = Some(examination);
        match refused {
            Some(_) => Err(Box::new(Outcome::Unmodelled(u32::MAX))),
            None => Ok(()),
        }
    }

    fn operation_seen(&self, examination: &mut Examination, op: &Op) -> Examined {
        match op {
            Op::Bin {
                op, width, a, b, ..
            } => {
                let partial = fault::can_be(*op, true).is_some();
                if partial && (self.shade(*a).undefined || self.shade(*b).undefined) {
                    return Err(
                        "an operation is defined only if something is that was never written",
                    );
                }
                let shifts = fault::can_be(*op, false).is_none() && partial;
                if shifts && self.get(*b, *width) >= u128::from(*width) {
                    return Err("a shift is as wide as the number");
                }
                match width {
                    64 => self.computed(examination, *op, self.get64(*a), self.get64(*b)),
                    _ => Ok(()),
                }
            }
            Op::Un {
                width, a, partial, ..
            } => match *partial && self.get(*a, *width) == 0 {
                true => Err("zeros of nothing are counted"),
                false => self.refuse_addresses(examination, &[(*a, *width)]),
            },
            Op::Funnel {
                width, a, b, by, ..
            } => self.refuse_addresses(examination, &[(*a, *width), (*b, *width), (*by, *width)]),
            Op::Cmp {
                pred, width, a, b, ..
            } => match width {
                64 => self.compared(examination, *pred, self.get64(*a), self.get64(*b)),
                _ => Ok(()),
            },
            Op::Overflow { width, a, b, .. } => {
                self.refuse_addresses(examination, &[(*a, *width), (*b, *width)])
            }
            Op::Cast { from, to, a, .. } => match from == to {
                true => Ok(()),
                false => self.refuse_addresses(examination, &[(*a, *from)]),
            },
            Op::Copy { .. } | Op::Freeze { .. } | Op::Select { .. } => Ok(()),
            Op::Address {
                base,
                offset,
                indices,
                ..
            } => self.moved_on(examination, *base, *offset, indices),
            Op::Float { kind, a, b, .. } | Op::FloatCmp { kind, a, b, .. } => {
                self.refuse_addresses(examination, &[(*a, kind.width()), (*b, kind.width())])
            }
            Op::FloatNeg { kind, a, .. } => {
                self.refuse_addresses(examination, &[(*a, kind.width())])
            }
            Op::FloatCast { cast, a, .. } => {
                self.refuse_addresses(examination, &[(*a, cast.source())])
            }
            Op::FloatFn {
                function,
                kind,
                args,
                ..
            } => {
                if !function.is_exact() {
                    return Err("a function is rounded by each library in its own way");
                }
                let all: Vec<(Operand, Width)> = args.iter().map(|a| (*a, kind.width())).collect();
                self.refuse_addresses(examination, &all)
            }
            Op::Alloca { size, room, .. } => {
                let count = room.as_ref().map(|room| room.count);
                if count.is_some_and(|count| self.shade(count).undefined) {
                    return Err("the length of an array was never written");
                }
                self.refuse_addresses(examination, &[(*size, 64)])
            }
            Op::Load { .. }
            | Op::Store { .. }
            | Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::Lifetime { .. }
            | Op::Uninit { .. }
            | Op::VaCopy { .. } => self.accessed(examination, op),
            Op::VaStart { list, .. } => self.variable_arguments(examination, *list),
            Op::StackSave { .. } => Ok(()),
            Op::StackRestore { saved } => {
                if self.shade(*saved).undefined {
                    return Err("what is restored was never saved");
                }
                // The function continues, and its registers may contain addresses of the objects
                // that end here.
                let kept = self.get64(*saved) as usize;
                let ends = self.objects.get(kept..).unwrap_or_default();
                examination
                    .lasting
                    .extend(ends.iter().map(|at| (at >> 32) as u32));
                Ok(())
            }
            Op::AtomicRmw { .. } | Op::CmpXchg { .. } => Err("an atomic operation"),
            Op::Processor { .. } => Err("an instruction that each processor has in its own way"),
            // The run ends there.
            Op::Unmodelled { .. } => Ok(()),
            Op::Call(call) => self.called(examination, call),
        }
    }

    /// Examines an access to memory.
    fn accessed(&self, examination: &mut Examination, op: &Op) -> Examined {
        match op {
            Op::Load {
                width,
                address,
                volatile,
                ..
            } => {
                let at = self.get64(*address);
                let len = u64::from(width.div_ceil(8));
                self.refuse_unknown_object(at)?;
                if *volatile && !self.is_local(at) {
                    return Err("a volatile object is read");
                }
                self.refuse_cut_address(examination, at, len, len == 8)
            }
            Op::Store {
                value,
                width,
                address,
                ..
            } => {
                let at = self.get64(*address);
                let len = u64::from(width.div_ceil(8));
                self.refuse_unknown_object(at)?;
                self.refuse_cut_address(examination, at, len, true)?;
                self.stored(examination, at, self.get(*value, *width), *width)
            }
            Op::MemCopy { to, from, len, .. } => self.copied(
                examination,
                self.get64(*to),
                self.get64(*from),
                self.get64(*len),
            ),
            Op::VaCopy { to, from, .. } => {
                self.copied(examination, self.get64(*to), self.get64(*from), 24)
            }
            Op::MemSet { to, len, .. } => {
                let at = self.get64(*to);
                self.refuse_unknown_object(at)?;
                self.refuse_cut_address(examination, at, self.get64(*len), true)
            }
            Op::Uninit { address, len } => {
                self.refuse_cut_address(examination, self.get64(*address), self.get64(*len), true)
            }
            _ => Ok(()),
        }
    }

    fn copied(&self, examination: &mut Examination, to: u64, from: u64, len: u64) -> Examined {
        if len == 0 {
            return Ok(());
        }
        self.refuse_unknown_object(to)?;
        self.refuse_unknown_object(from)?;
        self.refuse_cut_address(examination, from, len, true)?;
        self.refuse_cut_address(examination, to, len, true)?;
        if examination.holders.contains(&((from >> 32) as u32)) {
            examination.holders.insert((to >> 32) as u32);
        }
        Ok(())
    }

    /// Notes the addresses in a value that is stored.
    fn stored(
        &self,
        examination: &mut Examination,
        at: u64,
        value: u128,
        width: Width,
    ) -> Examined {
        if width == 64 {
            if let Some(root) = self.root(examination, value as u64) {
                examination.holders.insert((at >> 32) as u32);
                examination.lasting.insert(root);
            }
            return Ok(());
        }
        let bytes = value.to_le_bytes();
        match width > 64 && self.has_address(examination, &bytes) {
            true => Err("an address is part of a wide number"),
            false => Ok(()),
        }
    }

    /// Refuses an address of an object with unknown contents.
    fn refuse_unknown_object(&self, at: u64) -> Examined {
        let index = place_of((at >> 32) as u32).checked_sub(GLOBAL_OBJECTS);
        let global = index.and_then(|index| self.program.globals.get(index as usize));
        match global.is_some_and(|global| global.external) {
            true => Err("an object that nobody defines is accessed"),
            false => Ok(()),
        }
    }

    /// The position in the innermost of the user's functions on the stack.
    fn user_place(&self) -> String {
        let is_user = |id: FuncId| {
            let kind = self.program.function(id).kind;
            kind == crate::program::ir::FunctionKind::User
        };
        let mut pos = self.pos;
        for frame in self.frames.iter().rev() {
            if is_user(frame.function) {
                return self.program.show(pos);
            }
            match frame
                .site
                .and_then(|site| self.program.calls.get(site.index()))
            {
                Some(call) => pos = call.pos,
                None => break,
            }
        }
        "the program's start".to_owned()
    }
}

/// Whether a global contains only zeros, so that it need not be scanned for addresses.
fn is_blank(program: &Program, index: usize) -> bool {
    program.globals.get(index).is_none_or(|global| global.zeros)
}
