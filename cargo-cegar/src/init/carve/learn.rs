//! Learns from the recorded calls: where results are used, which calls repeat, and which numbers
//! are passed.
//!
//! A use is the sequence of calls that one test makes. Its shape consists of the functions in their
//! order, and the origin of each pointer: a result, a value that a function wrote through a `T **`,
//! or a structure of the caller's. Uses of the same shape become one harness. Repeated calls become
//! a loop, so that "feed, feed, feed" and "feed" have the same shape.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::api::{Api, Declared};
use super::super::ctype::Kind;
use super::super::pairs;
use super::trace::{Call, Run, Value, little};

/// The maximum number of calls of one use; further calls are ignored.
const CALLS: usize = 4096;
/// The maximum number of steps of a shape; longer uses are not suitable as examples.
pub(super) const STEPS: usize = 48;
/// The maximum number of steps in a repeated block.
const BLOCK: usize = 4;

/// The origin of an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Flow {
    /// The caller's own data.
    Own,
    /// NULL.
    Null,
    /// The result of a step.
    Result(usize),
    /// The value that a step wrote through a parameter.
    Wrote(usize, usize),
    /// A structure of the caller's, by number.
    Storage(usize),
}

/// A call as part of a shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Step {
    pub function: String,
    pub flows: Vec<Flow>,
}

/// Consecutive steps, executed once or repeatedly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub steps: Vec<Step>,
    /// Whether some test repeats them.
    pub repeated: bool,
    /// The recorded calls of each repetition.
    pub turns: Vec<Vec<Call>>,
}

/// One test's use of the library.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub name: String,
    pub items: Vec<Item>,
}

impl Use {
    /// The shape of the use, which is equal for uses that become one harness.
    pub fn key(&self) -> Vec<(Vec<Step>, bool)> {
        let one = |item: &Item| (item.steps.clone(), item.repeated);
        self.items.iter().map(one).collect()
    }

    /// The functions in their order.
    pub fn functions(&self) -> Vec<&str> {
        let steps = self.items.iter().flat_map(|item| &item.steps);
        steps.map(|step| step.function.as_str()).collect()
    }
}

/// The numbers that were passed for one parameter or returned by one function.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    pub seen: BTreeSet<i64>,
    pub count: usize,
}

/// Everything that is known about the functions.
pub(super) struct Facts<'a> {
    pub api: &'a Api,
    /// For each function and parameter, the index of the parameter that holds its length.
    pub lengths: HashMap<&'a str, Vec<Option<usize>>>,
    /// The numbers that were passed, by function and parameter.
    pub numbers: BTreeMap<(String, usize), Numbers>,
    /// Strings that were passed, by function and parameter; `None` if one was not a string.
    pub texts: BTreeMap<(String, usize), Option<BTreeSet<Vec<u8>>>>,
    /// The results after which the test made further calls, by function.
    pub went_on: BTreeMap<String, Numbers>,
    /// Integer parameters that take the results of a function, with the name of that function.
    handles: BTreeMap<(String, usize), String>,
    /// The minimum and maximum number of repetitions, by the functions of the item.
    pub turns: BTreeMap<Vec<String>, (usize, usize)>,
}

/// Whether a number may be the length of these bytes. For a string with its NUL, it must count all
/// bytes or all but the NUL, because an unrelated number next to a string rarely has exactly this
/// value.
fn is_length_of_text(bytes: &[u8], length: u64) -> bool {
    let all = bytes.len() as u64;
    match bytes.strip_suffix(&[0]) {
        Some(text) if !text.contains(&0) => length == all || length + 1 == all,
        _ => true,
    }
}

impl<'a> Facts<'a> {
    /// Learns from all runs.
    pub fn new(api: &'a Api, runs: &[Run]) -> Facts<'a> {
        let mut facts = Facts {
            api,
            lengths: HashMap::new(),
            numbers: BTreeMap::new(),
            texts: BTreeMap::new(),
            went_on: BTreeMap::new(),
            handles: BTreeMap::new(),
            turns: BTreeMap::new(),
        };
        for function in &api.functions {
            let lengths = facts.lengths_of(function, runs);
            facts.lengths.insert(&function.name, lengths);
        }
        for run in runs {
            for (number, call) in run.calls.iter().enumerate() {
                facts.note(call, number + 1 < run.calls.len());
            }
        }
        facts.find_handles(runs);
        facts
    }

    /// For each parameter, the index of the one that holds its length: according to the names, or
    /// else a number right after bytes that never exceeded the readable size.
    fn lengths_of(&self, function: &Declared, runs: &[Run]) -> Vec<Option<usize>> {
        let mut lengths = pairs::lengths(self.api, &function.params);
        let calls = || {
            let all = runs.iter().flat_map(|run| &run.calls);
            all.filter(|call| call.function == function.name)
        };
        for (i, paired) in lengths.iter_mut().enumerate() {
            let Some(l) = *paired else { continue };
            let is_other = |call: &Call| match (call.args.get(i), call.args.get(l)) {
                (Some(Value::Pointer { bytes, .. }), Some(Value::Int(length))) => {
                    self.may_be_text(function, i) && !is_length_of_text(bytes, *length)
                }
                _ => false,
            };
            if calls().any(is_other) {
                *paired = None;
            }
        }
        let taken = |lengths: &[Option<usize>], i| lengths.contains(&Some(i));
        for i in 0..function.params.len().saturating_sub(1) {
            if lengths[i].is_some() || taken(&lengths, i) || taken(&lengths, i + 1) {
                continue;
            }
            let to = self.api.pointee(&function.params[i].ty);
            let kind = to.as_ref().map(|to| self.api.resolve(to).kind);
            let bytes = matches!(kind, Some(Kind::Int { size: 1, .. } | Kind::Void));
            let may_be_text = self.may_be_text(function, i);
            let number = matches!(
                self.api.resolve(&function.params[i + 1].ty).kind,
                Kind::Int { size: 4.., .. }
            );
            let fits = |call: &Call| match (call.args.get(i), call.args.get(i + 1)) {
                (Some(Value::Pointer { address, bytes }), Some(Value::Int(length))) => {
                    let is_within = bytes.len() as u64 >= *length;
                    (*address == 0 && *length == 0)
                        || is_within && (!may_be_text || is_length_of_text(bytes, *length))
                }
                _ => false,
            };
            let mut any = false;
            let all = calls().inspect(|_| any = true).all(fits);
            if bytes && number && all && any {
                lengths[i] = Some(i + 1);
            }
        }
        lengths
    }

    /// Whether a parameter points to characters that the library only reads.
    fn may_be_text(&self, function: &Declared, i: usize) -> bool {
        let to = self.api.pointee(&function.params[i].ty);
        let character = Kind::Int {
            size: 1,
            signed: true,
        };
        to.is_some_and(|to| to.constant && self.api.resolve(&to).kind == character)
    }

    fn note(&mut self, call: &Call, goes_on: bool) {
        for (i, value) in call.args.iter().enumerate() {
            let key = (call.function.clone(), i);
            match value {
                Value::Int(bits) => {
                    let numbers = self.numbers.entry(key).or_default();
                    numbers.seen.insert(*bits as i64);
                    numbers.count += 1;
                }
                Value::Pointer { address, bytes } if *address != 0 => {
                    let text = bytes.strip_suffix(&[0]);
                    let text = text.filter(|text| !text.contains(&0)).map(<[u8]>::to_vec);
                    let known = self
                        .texts
                        .entry(key)
                        .or_insert_with(|| Some(BTreeSet::new()));
                    match (known.as_mut(), text) {
                        (Some(known), Some(text)) => drop(known.insert(text)),
                        _ => *known = None,
                    }
                }
                _ => {}
            }
        }
        if let (true, Some(Value::Int(bits))) = (goes_on, &call.result) {
            let numbers = self.went_on.entry(call.function.clone()).or_default();
            numbers.seen.insert(*bits as i64);
            numbers.count += 1;
        }
    }

    /// Finds integer arguments that are always an earlier result: a library may use numbers as
    /// handles of its objects.
    fn find_handles(&mut self, runs: &[Run]) {
        for function in &self.api.functions {
            for (i, param) in function.params.iter().enumerate() {
                let lengths = &self.lengths[function.name.as_str()];
                let is_number = matches!(
                    self.api.resolve(&param.ty).kind,
                    Kind::Int { size: 4.., .. }
                );
                if !is_number || lengths.contains(&Some(i)) {
                    continue;
                }
                let makers = self.api.functions.iter().filter(|maker| {
                    maker.name != function.name && maker.returns.words == param.ty.words
                });
                let mut fitting = makers.filter(|maker| always_from(runs, function, i, maker));
                if let Some(maker) = fitting.next() {
                    self.handles
                        .insert((function.name.clone(), i), maker.name.clone());
                }
            }
        }
    }

    /// The function with this name.
    pub fn function(&self, name: &str) -> Option<&'a Declared> {
        self.api.function(name)
    }

    /// The use that a run makes, or the reason why it cannot be used.
    pub fn use_of(&self, run: &Run) -> Result<Use, String> {
        let calls: Vec<&Call> = run.calls.iter().take(CALLS).collect();
        let steps = self.steps(&calls)?;
        let items = self.items(&steps, &calls);
        if items.iter().map(|item| item.steps.len()).sum::<usize>() > STEPS {
            return Err(format!(
                "it makes more than {STEPS} different calls in a row"
            ));
        }
        Ok(Use {
            name: run.name.clone(),
            items,
        })
    }

    fn steps(&self, calls: &[&Call]) -> Result<Vec<Step>, String> {
        let mut storages: Vec<u64> = Vec::new();
        let mut steps = Vec::new();
        for (number, call) in calls.iter().enumerate() {
            let Some(function) = self.function(&call.function) else {
                return Err(format!("`{}` is not declared", call.function));
            };
            let mut flows = Vec::new();
            for (i, value) in call.args.iter().enumerate() {
                let flow = match value {
                    Value::Code(0) => Flow::Null,
                    Value::Code(_) => {
                        return Err(format!("it hands `{}` a function", call.function));
                    }
                    Value::Pointer { address: 0, .. } => Flow::Null,
                    Value::Pointer { address, .. } => {
                        let earlier = &calls[..number];
                        match self.producer(earlier, *address) {
                            Some(flow) => flow,
                            None if self.is_structure(function, i) => {
                                let known = storages.iter().position(|known| known == address);
                                let at = known.unwrap_or_else(|| {
                                    storages.push(*address);
                                    storages.len() - 1
                                });
                                Flow::Storage(at)
                            }
                            None if self.is_handle(function, i) => {
                                return Err(format!(
                                    "where `{}` has its object from was not seen",
                                    call.function
                                ));
                            }
                            None => Flow::Own,
                        }
                    }
                    Value::Int(bits) => {
                        let maker = self.handles.get(&(call.function.clone(), i));
                        let from = |step: &&(usize, &&Call)| {
                            let call = step.1;
                            maker == Some(&call.function) && call.result == Some(Value::Int(*bits))
                        };
                        let made = calls[..number].iter().enumerate().rev().collect::<Vec<_>>();
                        match made.iter().find(from) {
                            Some((step, _)) => Flow::Result(*step),
                            None => Flow::Own,
                        }
                    }
                    Value::Float | Value::Nothing => Flow::Own,
                };
                flows.push(flow);
            }
            steps.push(Step {
                function: call.function.clone(),
                flows,
            });
        }
        Ok(steps)
    }

    /// The call that created the object at an address, the last one if there are several.
    fn producer(&self, earlier: &[&Call], address: u64) -> Option<Flow> {
        earlier.iter().enumerate().rev().find_map(|(step, call)| {
            if let Some(Value::Pointer { address: made, .. }) = call.result
                && made == address
            {
                return Some(Flow::Result(step));
            }
            let wrote = call
                .wrote
                .iter()
                .find(|(_, bytes)| bytes.len() == 8 && little(bytes) == address);
            let (param, _) = wrote?;
            let function = self.function(&call.function)?;
            let to = self.api.pointee(&function.params.get(*param)?.ty)?;
            matches!(self.api.resolve(&to).kind, Kind::Pointer(_))
                .then_some(Flow::Wrote(step, *param))
        })
    }

    fn is_structure(&self, function: &Declared, i: usize) -> bool {
        let to = function
            .params
            .get(i)
            .and_then(|param| self.api.pointee(&param.ty));
        to.is_some_and(|to| match self.api.resolve(&to).kind {
            Kind::Record(tag) => self.api.record(&tag).is_some(),
            _ => false,
        })
    }

    /// Whether a parameter points to an opaque object of the library.
    fn is_handle(&self, function: &Declared, i: usize) -> bool {
        let to = function
            .params
            .get(i)
            .and_then(|param| self.api.pointee(&param.ty));
        to.is_some_and(|to| match self.api.resolve(&to).kind {
            Kind::Record(tag) => self.api.record(&tag).is_none(),
            _ => false,
        })
    }

    /// Merges repeated steps into items. References are to the steps of the first repetition.
    fn items(&self, steps: &[Step], calls: &[&Call]) -> Vec<Item> {
        // Maps steps of later repetitions to those of the first one.
        let mut stands_for: Vec<usize> = (0..steps.len()).collect();
        let mut items: Vec<Item> = Vec::new();
        let mut starts: Vec<usize> = Vec::new();
        let (mut at, mut next) = (0, 0);
        while at < steps.len() {
            let (block, turns) = repeats(steps, at);
            let first = next;
            let take = |turn: usize| {
                calls[at + turn * block..at + (turn + 1) * block]
                    .iter()
                    .map(|call| (*call).clone())
                    .collect()
            };
            for turn in 0..turns {
                for i in 0..block {
                    stands_for[at + turn * block + i] = first + i;
                }
            }
            let renamed = steps[at..at + block].iter().map(|step| Step {
                function: step.function.clone(),
                flows: step
                    .flows
                    .iter()
                    .map(|flow| renumbered(flow, &stands_for))
                    .collect(),
            });
            items.push(Item {
                steps: renamed.collect(),
                repeated: turns > 1,
                turns: (0..turns).map(take).collect(),
            });
            starts.push(first);
            next += block;
            at += block * turns;
        }
        items
    }

    /// Determines from all uses which items are repeated, and marks them in each use.
    pub fn settle(&mut self, uses: &mut [Use]) {
        let names = |item: &Item| -> Vec<String> {
            item.steps
                .iter()
                .map(|step| step.function.clone())
                .collect()
        };
        let all = || uses.iter().flat_map(|one| &one.items);
        let repeated: BTreeSet<Vec<String>> =
            all().filter(|item| item.repeated).map(names).collect();
        for item in all() {
            let turns = item.turns.len();
            let known = self.turns.entry(names(item)).or_insert((turns, turns));
            *known = (known.0.min(turns), known.1.max(turns));
        }
        for item in uses.iter_mut().flat_map(|one| &mut one.items) {
            item.repeated |= repeated.contains(&names(item));
        }
    }
}

fn renumbered(flow: &Flow, stands_for: &[usize]) -> Flow {
    match flow {
        Flow::Result(step) => Flow::Result(stands_for[*step]),
        Flow::Wrote(step, param) => Flow::Wrote(stands_for[*step], *param),
        other => other.clone(),
    }
}

/// The length of the block that repeats from here on, and how often it occurs. A block with a
/// reference to one of its own steps does not repeat.
fn repeats(steps: &[Step], at: usize) -> (usize, usize) {
    for block in 1..=BLOCK {
        let Some(first) = steps.get(at..at + block) else {
            break;
        };
        let inside = first
            .iter()
            .flat_map(|step| &step.flows)
            .any(|flow| match flow {
                Flow::Result(step) | Flow::Wrote(step, _) => *step >= at,
                _ => false,
            });
        if inside {
            continue;
        }
        let mut turns = 1;
        while steps.get(at + turns * block..at + (turns + 1) * block) == Some(first) {
            turns += 1;
        }
        if turns > 1 {
            return (block, turns);
        }
    }
    (1, 1)
}

/// Whether a parameter was always an earlier result of `maker`, and not always 0.
fn always_from(runs: &[Run], function: &Declared, i: usize, maker: &Declared) -> bool {
    let (mut any, mut telling) = (false, false);
    for run in runs {
        for (number, call) in run.calls.iter().enumerate() {
            if call.function != function.name {
                continue;
            }
            let Some(Value::Int(bits)) = call.args.get(i) else {
                return false;
            };
            let made = run.calls[..number]
                .iter()
                .filter(|other| other.function == maker.name);
            if !made
                .into_iter()
                .any(|other| other.result == Some(Value::Int(*bits)))
            {
                return false;
            }
            any = true;
            telling |= *bits != 0;
        }
    }
    any && telling
}
