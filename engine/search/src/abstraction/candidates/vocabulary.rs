//! The constants and conditions of a program, from which candidates are built.

use std::collections::{BTreeMap, BTreeSet};

use cegar_model::deadline;
use cegar_model::program::ir::Width;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Array, Item, Node, Pool, Term, value};
use rustc_hash::FxHashSet;

use super::CONSTANTS;
use super::{everywhere, slopes};
use crate::abstraction::graph::Graph;

/// What the code compares with: constants by width, and its conditions.
#[derive(Debug, Default)]
pub struct Vocabulary {
    pub(super) constants: BTreeMap<Width, BTreeSet<u128>>,
    pub(super) conditions: Vec<Term>,
    /// Variables that hold the number of an object.
    pub(super) numbers: FxHashSet<Term>,
    /// Variables that some transition changes.
    pub(super) changing: FxHashSet<Term>,
    /// The element sizes of arrays that are read at a variable offset, in bytes.
    pub(super) elements: BTreeMap<Array, u64>,
    /// What iterations of loops add to variables.
    pub(super) steps: Vec<(Cut, Term, slopes::Step)>,
}

impl Vocabulary {
    /// The vocabulary of all fragments.
    pub fn new(graph: &mut Graph<'_>) -> Vocabulary {
        let (steps, changing) = slopes::steps(graph);
        let mut all = Vocabulary {
            steps,
            changing,
            ..Vocabulary::default()
        };
        let bases = graph.states.values().flat_map(|state| state.bases.keys());
        all.numbers = bases.copied().collect();
        let mut seen: FxHashSet<Item> = FxHashSet::default();
        let mut read: BTreeMap<Array, BTreeSet<Term>> = BTreeMap::new();
        let pool = &graph.pool;
        for fragment in graph.fragments.values() {
            let guards = fragment
                .obligations
                .iter()
                .flat_map(|o| o.guard.0.iter().chain([&o.violated]))
                .chain(
                    fragment
                        .transitions
                        .iter()
                        .flat_map(|t| t.reached.guard.0.iter()),
                )
                .chain(fragment.assumptions.iter());
            for &root in guards {
                if deadline::seldom_passed() {
                    return all;
                }
                for item in pool.order(Item::Term(root), |item| seen.contains(&item)) {
                    seen.insert(item);
                    if let Item::Term(t) = item {
                        all.note(pool, t);
                        if let Node::Select(array, index) = *pool.node(t)
                            && pool.as_const(index).is_none()
                        {
                            read.entry(array).or_default().insert(index);
                        }
                    }
                }
            }
        }
        all.elements = everywhere::elements(pool, &read);
        all
    }

    fn note(&mut self, pool: &Pool, t: Term) {
        let Node::Cmp(_, a, b) = *pool.node(t) else {
            return;
        };
        if pool.width(a) > 1 {
            self.conditions.push(t);
        }
        let is_number = |c: u128| pool.width(a) == 32 && c != 0;
        for (side, other) in [(a, b), (b, a)] {
            if let Some(c) = pool.as_const(side)
                && !(is_number(c) && self.numbers.contains(&other))
            {
                self.add(pool.width(side), c);
            }
        }
    }

    fn add(&mut self, width: Width, c: u128) {
        let all = self.constants.entry(width).or_default();
        for near in [c.wrapping_sub(1), c, c.wrapping_add(1)] {
            all.insert(near & value::mask(width));
        }
    }

    /// The constants for a width. Those compared at other widths are included, since C widens
    /// everything to `int`.
    pub fn constants(&self, width: Width) -> Vec<u128> {
        let mut all: BTreeSet<u128> = BTreeSet::from([0, 1, value::mask(width)]);
        for (&other, constants) in &self.constants {
            for &c in constants {
                let kept = c & value::mask(width);
                let signed = value::signed(other, c);
                if kept == c || value::unsigned(width, signed) == kept && other < width {
                    all.insert(kept);
                }
                if all.len() > CONSTANTS {
                    break;
                }
            }
        }
        all.into_iter().collect()
    }

    /// All constants, for random tapes.
    pub fn interesting(&self) -> Vec<u128> {
        self.constants.values().flatten().copied().collect()
    }
}
