//! The worker's loop: fuzz one input, report its results to the parent, read commands, repeat.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant, SystemTime};

use libafl::common::HasMetadata;
use libafl::corpus::{Corpus, InMemoryCorpus};
use libafl::events::NopEventManager;
use libafl::executors::ExitKind;
use libafl::feedbacks::ConstFeedback;
use libafl::fuzzer::{Evaluator, Fuzzer, StdFuzzer};
use libafl::inputs::{BytesInput, HasMutatorBytes};
use libafl::mutators::Tokens;
use libafl::state::{HasCorpus, HasMaxSize};
use libafl_bolts::rands::StdRand;
use libafl_bolts::tuples::tuple_list;

use super::comparisons::{CompareStage, Patches};
use super::executor::{NativeExecutor, NewestFirst, RawCounts, entered};
use super::faults::guard;
use super::mutate::MutateStage;
use super::protocol::{Command, WorkerConfig, WorkerEvent};
use super::recorder::Recorder;
use super::target::{LoadError, Target};
use super::{Out, State, corpus};

/// Why the worker had to stop.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkerFailure {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("LibAFL: {0}")]
    LibAfl(#[from] libafl::Error),
    #[error("cannot install the guard: {0}")]
    Guard(std::io::Error),
}

/// The interval between reports of statistics.
const STATS: Duration = Duration::from_millis(500);

/// What was covered and reported so far.
struct Ledger {
    covered: Vec<bool>,
    /// The number of corpus entries that were reported.
    told: usize,
    unstable: HashSet<Vec<u32>>,
}

impl Ledger {
    /// Reports inputs that joined the corpus. Each is run twice more to check whether both runs
    /// enter the same blocks equally often.
    fn tell_new(
        &mut self,
        state: &State,
        executor: &mut NativeExecutor,
        config: &WorkerConfig,
        out: &mut Out,
    ) {
        let inputs: Vec<Vec<u8>> = (self.told..state.corpus().count())
            .filter_map(|nth| {
                let entry = state.corpus().get(state.corpus().nth(nth)).ok()?.borrow();
                entry.input().as_ref().map(|i| i.mutator_bytes().to_vec())
            })
            .collect();
        self.told = state.corpus().count();
        for tape in inputs {
            executor.run(&tape);
            let first = executor.counts();
            executor.run(&tape);
            let second = executor.counts();
            let differ: Vec<u32> = (0u32..)
                .zip(first.iter().zip(&second))
                .filter(|(_, (a, b))| a != b)
                .map(|(block, _)| block)
                .collect();
            if !differ.is_empty() && self.unstable.insert(differ.clone()) {
                out.tell(&WorkerEvent::NonDeterministic {
                    tape: tape.clone(),
                    blocks: differ,
                });
            }
            let blocks: Vec<u32> = entered(&first)
                .into_iter()
                .filter(|b| !self.covered[*b as usize])
                .collect();
            for &block in &blocks {
                self.covered[block as usize] = true;
            }
            if let Some(queue) = &config.queue
                && let Err(e) = corpus::save_tape(queue, &tape)
            {
                out.tell(&WorkerEvent::Skipped {
                    path: queue.clone(),
                    reason: format!("not saved: {e}"),
                });
            }
            out.tell(&WorkerEvent::NewInput {
                tape,
                blocks,
                execs: executor.runs,
            });
        }
    }
}

/// The values that LibAFL needs for every input.
struct Fuzzing<F> {
    fuzzer: F,
    state: State,
    executor: NativeExecutor,
    manager: NopEventManager,
}

impl<F> Fuzzing<F>
where
    F: Evaluator<NativeExecutor, NopEventManager, BytesInput, State>,
{
    /// Runs a tape, and keeps it in the corpus if it covers something new.
    fn evaluate(&mut self, tape: Vec<u8>) -> Result<(), libafl::Error> {
        let (state, executor) = (&mut self.state, &mut self.executor);
        let input = BytesInput::new(tape);
        self.fuzzer
            .evaluate_input(state, executor, &mut self.manager, &input)?;
        Ok(())
    }

    /// Keeps a tape in the corpus, whatever it covers.
    fn add(&mut self, tape: Vec<u8>) -> Result<(), libafl::Error> {
        let (state, executor) = (&mut self.state, &mut self.executor);
        let input = BytesInput::new(tape);
        self.fuzzer
            .add_input(state, executor, &mut self.manager, input)?;
        Ok(())
    }

    /// Runs the initial tapes.
    fn begin(&mut self, config: &WorkerConfig, out: &mut Out) -> Result<(), libafl::Error> {
        let (tapes, skipped) = corpus::read(&config.corpus, config.max_len);
        for skipped in skipped {
            out.tell(&WorkerEvent::Skipped {
                path: skipped.path,
                reason: skipped.reason,
            });
        }
        out.tell(&WorkerEvent::Started { seeds: tapes.len() });
        // Some tapes to start from, whatever the corpus holds: nothing, zeros, and some text. A
        // corpus may contain only failing inputs, which are not kept.
        let first = [&b"\0"[..], b"", b"\0\0\0\0\0\0\0\0", b"a0 1\n"].map(<[u8]>::to_vec);
        let wanted = |tape: &Vec<u8>| !config.avoid.contains(tape);
        for tape in tapes.into_iter().filter(wanted).chain(first) {
            self.evaluate(tape)?;
        }
        if self.state.corpus().count() == 0 {
            self.add(b"\0".to_vec())?;
        }
        Ok(())
    }

    /// Takes a tape from the parent: a seed, which is added to be mutated, or another tape, which
    /// is kept if it covers something new.
    fn take(
        &mut self,
        config: &WorkerConfig,
        mut tape: Vec<u8>,
        is_seed: bool,
    ) -> Result<(), libafl::Error> {
        if is_seed {
            tape.truncate(config.max_len);
        }
        if tape.len() > config.max_len || config.avoid.contains(&tape) {
            return Ok(());
        }
        if !is_seed {
            return self.evaluate(tape);
        }
        // A failing seed is reported by the run itself and is not worth mutating.
        if self.executor.run(&tape) == ExitKind::Ok {
            self.add(tape)?;
        }
        Ok(())
    }
}

/// When statistics were last reported, and the number of runs at that time.
struct Told {
    at: Instant,
    runs: u64,
}

impl Told {
    fn now(runs: u64) -> Told {
        Told {
            at: Instant::now(),
            runs,
        }
    }

    /// Reports statistics if they are due or this is the last time.
    fn tell(&mut self, runs: u64, last: bool, (state, ledger): (&State, &Ledger), out: &mut Out) {
        let elapsed = self.at.elapsed();
        if elapsed >= STATS || last {
            out.tell(&WorkerEvent::Stats {
                executions: runs,
                corpus: state.corpus().count(),
                blocks: ledger.covered.iter().filter(|c| **c).count(),
                per_second: (runs - self.runs) as f64 / elapsed.as_secs_f64().max(1e-6),
            });
            *self = Told::now(runs);
        }
    }
}

/// Fuzzes until it has to stop. Returns the reason.
pub(super) fn run(
    config: &WorkerConfig,
    recorder: Option<Recorder>,
    commands: &Receiver<Command>,
    out: &mut Out,
) -> Result<String, WorkerFailure> {
    let recorder = recorder.map(|recorder| Rc::new(RefCell::new(recorder)));
    let load =
        |path: &Path| Target::load(path, config.blocks, config.memory_limit, recorder.clone());
    let target = load(&config.so)?;
    let logging = config.cmp_so.as_deref().map(load).transpose()?;
    let logging = Rc::new(RefCell::new(logging));
    guard(config.exec_timeout_ms).map_err(WorkerFailure::Guard)?;
    let target = Rc::new(RefCell::new(target));
    let compare_runs = Rc::new(Cell::new(0u64));

    let max_counts = Rc::new(RefCell::new(vec![0; config.blocks as usize]));
    let mut feedback = RawCounts::new(target.clone(), max_counts.clone());
    let mut objective = ConstFeedback::new(false);
    let state = new_state(config, &mut feedback, &mut objective)?;
    let patches = Patches::default();
    let mut stages = tuple_list!(
        CompareStage::new(logging.clone(), compare_runs.clone(), patches.clone()),
        MutateStage::new(config.seed, config.runs.is_none(), patches, &config.avoid),
    );
    let mut fuzzing = Fuzzing {
        fuzzer: StdFuzzer::new(NewestFirst::default(), feedback, objective),
        state,
        executor: NativeExecutor::new(target, max_counts, config.runs.is_none()),
        manager: NopEventManager::new(),
    };
    fuzzing.begin(config, out)?;
    let mut ledger = Ledger {
        covered: vec![false; config.blocks as usize],
        told: 0,
        unstable: HashSet::new(),
    };
    let mut paused = false;
    let mut told = Told::now(0);
    loop {
        for event in fuzzing.executor.events.drain(..) {
            out.tell(&event);
        }
        ledger.tell_new(&fuzzing.state, &mut fuzzing.executor, config, out);
        let runs = fuzzing.executor.runs + compare_runs.get();
        let is_late = config.until.is_some_and(|until| SystemTime::now() >= until);
        let over = is_late || config.runs.is_some_and(|limit| runs >= limit);
        told.tell(runs, over, (&fuzzing.state, &ledger), out);
        if over {
            return Ok(if is_late { "time" } else { "budget" }.to_owned());
        }
        let command = if paused {
            commands.recv().map_err(|_| TryRecvError::Disconnected)
        } else {
            commands.try_recv()
        };
        match command {
            Ok(Command::Stop) => return Ok("stop".to_owned()),
            Ok(Command::Pause) => paused = true,
            Ok(Command::Resume) => {
                paused = false;
                told = Told::now(runs);
            }
            Ok(Command::AddSeed { tape }) => fuzzing.take(config, tape, true)?,
            Ok(Command::Offer { tape }) => fuzzing.take(config, tape, false)?,
            Ok(Command::AddToken { bytes }) => {
                if let Some(tokens) = fuzzing.state.metadata_map_mut().get_mut::<Tokens>() {
                    tokens.add_token(&bytes);
                }
            }
            Ok(Command::Compare { so }) => {
                logging.replace(Some(load(&so)?));
            }
            Err(TryRecvError::Disconnected) => return Ok("the parent is gone".to_owned()),
            Err(TryRecvError::Empty) => {
                let Fuzzing {
                    fuzzer,
                    state,
                    executor,
                    manager,
                } = &mut fuzzing;
                fuzzer.fuzz_one(&mut stages, executor, state, manager)?;
            }
        }
    }
}

/// LibAFL's initial state.
fn new_state(
    config: &WorkerConfig,
    feedback: &mut RawCounts,
    objective: &mut ConstFeedback,
) -> Result<State, libafl::Error> {
    let mut state: State = State::new(
        StdRand::with_seed(config.seed),
        InMemoryCorpus::new(),
        InMemoryCorpus::new(),
        feedback,
        objective,
    )?;
    state.set_max_size(config.max_len);
    let mut tokens = Tokens::new();
    tokens.add_tokens(&config.tokens);
    state.add_metadata(tokens);
    Ok(state)
}
