//! The stage that makes mutants of one input and runs them.
//!
//! A mutant is made in one buffer and run immediately. Only a mutant that raises a count goes
//! through LibAFL's evaluation, which runs it again and adds it to the corpus. Havoc lengthens a
//! tape only up to a limit that grows when nothing new is found, since the time of a run grows with
//! its tape. The number of mutants of an input depends on the time that they take (see the `pace`
//! module).

use std::collections::HashSet;

use libafl::Error;
use libafl::common::HasMetadata;
use libafl::corpus::{Corpus, CorpusId, HasCurrentCorpusId};
use libafl::executors::ExitKind;
use libafl::fuzzer::Evaluator;
use libafl::inputs::{BytesInput, HasMutatorBytes};
use libafl::mutators::Tokens;
use libafl::stages::{Restartable, Stage};
use libafl::state::{HasCorpus, HasMaxSize};
use libafl_bolts::rands::{Rand, StdRand};

use super::State;
use super::comparisons::{Patches, apply};
use super::executor::NativeExecutor;
use super::havoc::{Material, havoc};
use super::pace::Pace;
use super::pump::pump;

/// The maximal numbers of mutants of one input, by kind.
const HAVOC: usize = 160;
const COMPARED: usize = 48;
/// The maximal number of patches that the first visit tries, each once.
const ALL: usize = 1024;
const PUMPED: usize = 8;
/// An input of more bytes gets fewer mutants, down to a tenth.
const SHORT: usize = 128;
/// How much time a visit pays in, as a number of typical runs.
const PAID: usize = HAVOC + COMPARED / 2;
/// The number of visits in which an input is pumped fully; after that it is pumped rarely.
const PUMPED_FULLY: u32 = 4;
/// Havoc's initial limit on lengths.
const FIRST_LIMIT: usize = 64;
/// The limit doubles after this many runs without news per byte of the limit.
const PATIENCE: u64 = 64;

/// The stage that mutates inputs.
pub(super) struct MutateStage {
    rand: StdRand,
    patches: Patches,
    /// Tapes that killed a worker. A mutant that equals one of them is not run again, since patches
    /// would lead each worker to it at once.
    avoid: HashSet<Vec<u8>>,
    pace: Pace,
    /// A copy of the dictionary, since LibAFL's is behind a lookup by type.
    tokens: Vec<Vec<u8>>,
    /// The number of visits to each input, by its number.
    visits: Vec<u32>,
    limit: usize,
    runs_since_news: u64,
    base: Vec<u8>,
    other: Vec<u8>,
    tape: Vec<u8>,
}

impl MutateStage {
    /// With `timed`, the clock determines how many mutants an input gets.
    pub fn new(seed: u64, timed: bool, patches: Patches, avoid: &[Vec<u8>]) -> Self {
        MutateStage {
            rand: StdRand::with_seed(seed),
            patches,
            avoid: avoid.iter().cloned().collect(),
            pace: Pace::new(timed),
            tokens: Vec::new(),
            visits: Vec::new(),
            limit: FIRST_LIMIT,
            runs_since_news: 0,
            base: Vec::new(),
            other: Vec::new(),
            tape: Vec::new(),
        }
    }

    /// Runs the mutant in `self.tape`.
    fn attempt<EM, Z>(
        &mut self,
        fuzzer: &mut Z,
        executor: &mut NativeExecutor,
        state: &mut State,
        manager: &mut EM,
    ) -> Result<(), Error>
    where
        Z: Evaluator<NativeExecutor, EM, BytesInput, State>,
    {
        if !self.avoid.is_empty() && self.avoid.contains(&self.tape) {
            return Ok(());
        }
        self.runs_since_news += 1;
        if executor.run(&self.tape) == ExitKind::Ok && executor.promising() {
            let input = BytesInput::new(self.tape.clone());
            fuzzer.evaluate_input(state, executor, manager, &input)?;
            self.runs_since_news = 0;
        }
        Ok(())
    }

    /// Counts a visit to this input and returns how many there were before.
    fn visit(&mut self, id: CorpusId) -> u32 {
        let id = usize::from(id);
        if self.visits.len() <= id {
            self.visits.resize(id + 1, 0);
        }
        let before = self.visits[id];
        self.visits[id] = before.saturating_add(1);
        before
    }

    /// Loads the base, another input and the dictionary. Returns the maximal length of a mutant.
    fn load(&mut self, state: &State, id: CorpusId) -> Result<usize, Error> {
        let corpus = state.corpus();
        copy(corpus, id, &mut self.base)?;
        let other = corpus.nth(self.rand.below_or_zero(corpus.count()));
        copy(corpus, other, &mut self.other)?;
        if let Ok(tokens) = state.metadata::<Tokens>()
            && tokens.tokens().len() != self.tokens.len()
        {
            self.tokens = tokens.tokens().to_vec();
        }
        Ok(state.max_size())
    }

    /// Raises the limit if nothing new was found for a long time.
    fn adapt(&mut self, longest: usize) {
        if self.limit < longest && self.runs_since_news > PATIENCE * self.limit as u64 {
            self.limit = (self.limit * 2).min(longest);
            self.runs_since_news = 0;
        }
    }
}

fn copy(corpus: &impl Corpus<BytesInput>, id: CorpusId, into: &mut Vec<u8>) -> Result<(), Error> {
    let entry = corpus.get(id)?.borrow();
    into.clear();
    if let Some(input) = entry.input() {
        into.extend_from_slice(input.mutator_bytes());
    }
    Ok(())
}

impl<EM, Z> Stage<NativeExecutor, EM, State, Z> for MutateStage
where
    Z: Evaluator<NativeExecutor, EM, BytesInput, State>,
{
    fn perform(
        &mut self,
        fuzzer: &mut Z,
        executor: &mut NativeExecutor,
        state: &mut State,
        manager: &mut EM,
    ) -> Result<(), Error> {
        let Some(id) = state.current_corpus_id()? else {
            return Ok(());
        };
        let longest = self.load(state, id)?;
        let visits = self.visit(id);
        let patches = self.patches.clone();
        let fitting = patches.borrow().len();
        let all = (visits == 0).then(|| fitting.min(ALL));
        let paid = PAID + all.unwrap_or(0);
        let mut purse = self.pace.begin(usize::from(id), paid);

        if fitting > 0 {
            let tried = all.unwrap_or_else(|| self.rand.between(1, COMPARED));
            for nth in 0..tried {
                if !purse.affords() {
                    break;
                }
                self.tape.clone_from(&self.base);
                let chosen = match all == Some(fitting) {
                    true => nth,
                    false => self.rand.below_or_zero(fitting),
                };
                if apply(&patches.borrow()[chosen], &mut self.tape, longest) {
                    self.attempt(fuzzer, executor, state, manager)?;
                }
            }
        }

        self.adapt(longest);
        let limit = self.limit.max(self.base.len()).min(longest);
        let mutants = HAVOC * SHORT / self.base.len().max(SHORT);
        for _ in 0..mutants.max(HAVOC / 10) {
            if !purse.affords() {
                break;
            }
            self.tape.clone_from(&self.base);
            let material = Material {
                tokens: &self.tokens,
                other: &self.other,
                limit,
            };
            havoc(&mut self.rand, &mut self.tape, &material);
            self.attempt(fuzzer, executor, state, manager)?;
        }

        let pumped = if visits < PUMPED_FULLY {
            self.rand.between(1, PUMPED)
        } else {
            usize::from(self.rand.below_or_zero(4) == 0)
        };
        for _ in 0..pumped {
            if purse.affords() && pump(&mut self.rand, &self.base, longest, &mut self.tape) {
                self.attempt(fuzzer, executor, state, manager)?;
            }
        }
        self.pace.end(&purse);
        Ok(())
    }
}

impl<S> Restartable<S> for MutateStage {
    fn should_restart(&mut self, _: &mut S) -> Result<bool, Error> {
        Ok(true)
    }

    fn clear_progress(&mut self, _: &mut S) -> Result<(), Error> {
        Ok(())
    }
}
