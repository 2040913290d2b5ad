//! The state of a run, its operands and its main loop.
//!
//! The registers of all frames are in one vector, and a frame has its base in it; nothing is
//! allocated per step. `TRACK` selects the shadow at compile time.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use cegar_stubs::UNDEFINED_BYTE;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Limits;
use super::crossing::{Crossing, Noted};
use super::exact::Examination;
use super::frame::Frame;
use super::memory::Memory;
use super::outcome::{Answer, Choice, Execution, Exhausted, Outcome, PathEvent};
use super::shadow::Shade;
use super::sizes::Size;
use super::watch::Watch;
use crate::deadline;
use crate::program::ir::{BlockId, Operand, Pos, Program, Reg, Width};
use crate::term::{Pool, Term, value::mask};

/// The outcome of a run that ends, as an error.
pub(super) type Stop = Box<Outcome>;

/// The result of anything that can end a run.
pub(super) type Step<T = ()> = Result<T, Stop>;

/// The number of steps between two readings of the clock: some milliseconds.
const CLOCK: u64 = 200_000;

const UNDEFINED: u128 = u128::from_le_bytes([UNDEFINED_BYTE; 16]);

/// Where to continue after an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// At the next operation.
    Go,
    /// At `block` and `at`, which a call changed.
    Enter,
}

pub(super) struct Run<'r, const TRACK: bool> {
    pub(super) program: &'r Program,
    pub(super) limits: &'r Limits,
    pub(super) tape: &'r [u8],
    pub(super) pool: Option<&'r mut Pool>,
    pub(super) symbolic: Range<usize>,
    pub(super) memory: Memory,
    pub(super) registers: Vec<u128>,
    pub(super) shades: Vec<Shade>,
    pub(super) base: usize,
    pub(super) frames: Vec<Frame>,
    /// The addresses of live stack objects of all frames.
    pub(super) objects: Vec<u64>,
    pub(super) block: BlockId,
    pub(super) at: usize,
    pub(super) pos: Pos,
    pub(super) counts: Vec<u8>,
    pub(super) steps: u64,
    /// The number of steps after which the limits are checked next.
    pub(super) pause: u64,
    /// Position on the tape; may be past its end.
    pub(super) position: usize,
    pub(super) choices: Vec<Choice>,
    pub(super) channels: FxHashMap<Vec<u8>, Arc<str>>,
    pub(super) exhausted: Option<Exhausted>,
    pub(super) asked_in_vain: u32,
    pub(super) path: Vec<PathEvent>,
    pub(super) trace: Vec<BlockId>,
    pub(super) answers: Vec<Answer>,
    pub(super) output: Vec<(i32, Vec<u8>)>,
    pub(super) undefined_load: Option<Pos>,
    pub(super) undefined_read: Option<Pos>,
    pub(super) concretisations: u64,
    /// Sizes that depend on the tape, by the object's number.
    pub(super) sizes: FxHashMap<u64, Size>,
    pub(super) scratch: Vec<(u128, Shade)>,
    pub(super) watch: Option<&'r mut Watch<'r>>,
    /// What the harness passes to the library, if that is recorded.
    pub(super) crossing: Option<Crossing<'r>>,
    /// The examination of whether the run stands for all runs, if there is one.
    pub(super) examination: Option<Box<Examination>>,
}

impl<'r, const TRACK: bool> Run<'r, TRACK> {
    pub(super) fn new(
        program: &'r Program,
        limits: &'r Limits,
        memory: Memory,
        tape: &'r [u8],
        pool: Option<&'r mut Pool>,
        symbolic: Range<usize>,
    ) -> Self {
        Run {
            program,
            limits,
            tape,
            pool,
            symbolic,
            memory,
            registers: Vec::new(),
            shades: Vec::new(),
            base: 0,
            frames: Vec::new(),
            objects: Vec::new(),
            block: BlockId(0),
            at: 0,
            pos: Pos::default(),
            counts: vec![0; program.blocks.len()],
            steps: 0,
            pause: CLOCK.min(limits.steps),
            position: 0,
            choices: Vec::new(),
            channels: FxHashMap::default(),
            exhausted: None,
            asked_in_vain: 0,
            path: Vec::new(),
            trace: Vec::new(),
            answers: Vec::new(),
            output: Vec::new(),
            undefined_load: None,
            undefined_read: None,
            concretisations: 0,
            sizes: FxHashMap::default(),
            scratch: Vec::new(),
            watch: None,
            crossing: None,
            examination: None,
        }
    }

    /// Runs to the end.
    pub(super) fn finish(self) -> Execution {
        self.finish_noting().0
    }

    /// Runs to the end, and returns what was noted as well.
    pub(super) fn finish_noting(mut self) -> (Execution, Noted) {
        let outcome = self.run_to_end();
        let noted = self.crossing.take().map(|crossing| crossing.noted);
        (self.into_execution(outcome), noted.unwrap_or_default())
    }

    /// Runs until the run ends or is refused.
    pub(super) fn finish_looking(mut self) -> (Execution, Examination) {
        let outcome = self.run_to_end();
        let examination = self
            .examination
            .take()
            .map(|examination| *examination)
            .unwrap_or_default();
        (self.into_execution(outcome), examination)
    }

    fn run_to_end(&mut self) -> Outcome {
        match self.go() {
            Ok(status) => Outcome::Returned(status),
            Err(stop) => *stop,
        }
    }

    /// The results of the run.
    fn into_execution(self, outcome: Outcome) -> Execution {
        Execution {
            outcome,
            counts: self.counts,
            consumed: self.position.min(self.tape.len()),
            choices: self.choices,
            exhausted: self.exhausted,
            path: self.path,
            trace: self.trace,
            answers: self.answers,
            steps: self.steps,
            output: self.output,
            stack_at_end: self.frames.iter().map(|f| (f.function, f.site)).collect(),
            undefined_load: self.undefined_load,
            undefined_read: self.undefined_read,
            concretisations: self.concretisations,
        }
    }

    fn go(&mut self) -> Step<i64> {
        self.enter_entry()?;
        let program = self.program;
        loop {
            let Some(block) = program.blocks.get(self.block.index()) else {
                return Err(Box::new(Outcome::Unmodelled(u32::MAX)));
            };
            if self.at == 0 {
                self.steps += block.ops.len() as u64 + 1;
                if self.steps > self.pause {
                    self.pause()?;
                }
                let count = &mut self.counts[self.block.index()];
                *count = count.saturating_add(1);
                if TRACK {
                    if self.trace.len() < self.limits.trace {
                        self.trace.push(self.block);
                    }
                    if self.watch.is_some() {
                        self.show();
                    }
                }
            }
            let mut entered = false;
            for (i, inst) in block.ops.iter().enumerate().skip(self.at) {
                if TRACK && self.examination.is_some() {
                    self.look(inst)?;
                }
                if self.operation(inst, i)? == Next::Enter {
                    entered = true;
                    break;
                }
            }
            if entered {
                continue;
            }
            if TRACK && self.examination.is_some() {
                self.examine_terminator(block)?;
            }
            if let Some(status) = self.terminator(block)? {
                return Ok(status);
            }
        }
    }

    /// Ends the run if it has reached its limits.
    #[cold]
    fn pause(&mut self) -> Step {
        let until = self.limits.until;
        let is_late = until.is_some_and(|until| Instant::now() >= until) || deadline::passed();
        if self.steps > self.limits.steps || is_late {
            return Err(Box::new(Outcome::StepLimit));
        }
        self.pause = self.limits.steps.min(self.steps + CLOCK);
        Ok(())
    }

    /// The operand's value; `width` only matters for undefined operands.
    #[inline(always)]
    pub(super) fn get(&self, operand: Operand, width: Width) -> u128 {
        match operand {
            Operand::Reg(r) => self.registers[self.base + r.index()],
            Operand::Const(c) => u128::from(c),
            Operand::Wide(c) => *c,
            Operand::Undef => UNDEFINED & mask(width),
        }
    }

    #[inline(always)]
    pub(super) fn get64(&self, operand: Operand) -> u64 {
        self.get(operand, 64) as u64
    }

    /// The operand's shadow.
    #[inline(always)]
    pub(super) fn shade(&self, operand: Operand) -> Shade {
        match operand {
            Operand::Reg(r) if TRACK => self.shades[self.base + r.index()],
            Operand::Undef => Shade {
                undefined: true,
                ..Shade::default()
            },
            _ => Shade::default(),
        }
    }

    /// The width of a register of the current frame.
    pub(super) fn width_of(&self, reg: Reg) -> Width {
        let function = self
            .frames
            .last()
            .map(|f| self.program.function(f.function));
        function
            .and_then(|f| f.registers.get(reg.index()).copied())
            .unwrap_or(64)
    }

    /// Sets a register to a value without a shadow.
    #[inline(always)]
    pub(super) fn set(&mut self, reg: Reg, value: u128) {
        self.set_shaded(reg, value, Shade::default());
    }

    #[inline(always)]
    pub(super) fn set_shaded(&mut self, reg: Reg, value: u128, shade: Shade) {
        let at = self.base + reg.index();
        self.registers[at] = value;
        if TRACK {
            self.shades[at] = shade;
        }
    }

    /// Sets a register to a value computed from operands, and its term to what `build` makes of the
    /// operands' terms.
    #[inline(always)]
    pub(super) fn derive(
        &mut self,
        dst: Reg,
        value: u128,
        from: &[(Operand, Width)],
        build: impl FnOnce(&mut Pool, &[Term]) -> Term,
    ) {
        let shade = if TRACK {
            self.shade_of(from, build)
        } else {
            Shade::default()
        };
        self.set_shaded(dst, value, shade);
    }

    /// The shadow of the value that `build` makes of the operands.
    #[inline(always)]
    pub(super) fn shade_of(
        &mut self,
        from: &[(Operand, Width)],
        build: impl FnOnce(&mut Pool, &[Term]) -> Term,
    ) -> Shade {
        let mut any = Shade::default();
        for &(operand, _) in from {
            let shade = self.shade(operand);
            any.undefined |= shade.undefined;
            any.term = any.term.or(shade.term);
        }
        if any.term.is_some() {
            let terms: SmallVec<[Term; 4]> = from
                .iter()
                .filter_map(|&(operand, width)| self.term(operand, width))
                .collect();
            any.term = self.make(|pool| build(pool, &terms));
        }
        any
    }

    /// The operand as a term, constant or not. `None` only without a pool.
    pub(super) fn term(&mut self, operand: Operand, width: Width) -> Option<Term> {
        let (shade, value) = (self.shade(operand), self.get(operand, width));
        let pool = self.pool.as_deref_mut()?;
        Some(shade.term.unwrap_or_else(|| pool.constant(width, value)))
    }

    /// Builds a term. `None` if it turns out to be constant.
    pub(super) fn make(&mut self, build: impl FnOnce(&mut Pool) -> Term) -> Option<Term> {
        let pool = self.pool.as_deref_mut()?;
        let term = build(pool);
        pool.as_const(term).is_none().then_some(term)
    }
}
