//! Compares the contents of an object with an array of bytes.

use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::super::spans::Span;
use super::Contents;
use crate::term::{Array, ArrayNode, Environment, Evaluator, Node, Pool, Term};

/// The size of the object in bytes.
const SIZE: u32 = 20;

/// Values of variables, by their numbers. The bytes of array variables are computed from their
/// indices.
#[derive(Default)]
struct Values(FxHashMap<u32, u128>);

impl Environment for Values {
    fn input(&self, _: u32) -> u8 {
        0
    }
    fn variable(&self, variable: u32) -> u128 {
        self.0.get(&variable).copied().unwrap_or(0)
    }
    fn element(&self, array: u32, index: u64) -> u8 {
        (u64::from(array) * 97 + index * 31) as u8
    }
}

/// An operation on the contents.
#[derive(Clone, Debug)]
enum Act {
    /// Writes the bytes of a value to a place, under a condition if there is one.
    Write(Place, u64, Option<bool>),
    Read(Place),
    /// Forgets the bytes between two offsets. The third number is how many bytes must be kept.
    Forget(u32, u32, u32),
    /// Two copies of the contents undergo these operations and are merged. The flag is the value of
    /// the condition of the merge.
    Split(Vec<Act>, Vec<Act>, bool),
}

/// An access: its offset, its length, whether the offset is a constant term, and by how much the
/// span exceeds the access.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: u32,
    len: u32,
    fixed: bool,
    around: u32,
}

fn place() -> impl Strategy<Value = Place> {
    let len = prop_oneof![Just(1u32), Just(2), Just(4), Just(8)];
    (len, 0..SIZE, any::<bool>(), 0..24u32).prop_map(|(len, at, fixed, around)| Place {
        at: at.min(SIZE - len),
        len,
        fixed,
        around,
    })
}

fn act() -> impl Strategy<Value = Act> {
    let single = prop_oneof![
        4 => (place(), any::<u64>(), prop::option::of(any::<bool>()))
            .prop_map(|(place, value, cond)| Act::Write(place, value, cond)),
        3 => place().prop_map(Act::Read),
        1 => (0..SIZE, 1..SIZE, 0..=SIZE)
            .prop_map(|(low, len, keep)| Act::Forget(low, (low + len).min(SIZE), keep)),
    ];
    single.prop_recursive(2, 24, 6, |inner| {
        let acts = || prop::collection::vec(inner.clone(), 0..5);
        (acts(), acts(), any::<bool>()).prop_map(|(a, b, cond)| Act::Split(a, b, cond))
    })
}

/// The expected bytes; `None` if a byte may be anything.
type Model = Vec<Option<u8>>;

struct Checked {
    pool: Pool,
    values: Values,
    fresh: u32,
}

impl Checked {
    fn variable(&mut self, width: u16, value: u128) -> Term {
        self.fresh += 1;
        let variable = self.pool.variable(&format!("v{}", self.fresh), width);
        if let Node::Variable(number) = *self.pool.node(variable) {
            self.values.0.insert(number, value);
        }
        variable
    }

    fn unknown(&mut self) -> Array {
        self.fresh += 1;
        self.pool.array_variable(&format!("a{}", self.fresh))
    }

    fn value(&self, t: Term) -> u128 {
        Evaluator::new().eval_in(&self.pool, t, &self.values)
    }

    fn element(&self, array: Array, at: u32) -> u8 {
        match self.pool.array_node(array) {
            ArrayNode::Variable(number) => self.values.element(number, u64::from(at)),
            _ => unreachable!("a variable"),
        }
    }

    fn offset(&mut self, place: Place) -> (Term, Span) {
        let offset = match place.fixed {
            true => self.pool.constant(64, u128::from(place.at)),
            false => self.variable(64, u128::from(place.at)),
        };
        let span = Span {
            low: place.at.saturating_sub(place.around),
            high: place.at + place.len + place.around,
        };
        (offset, if place.around > 20 { Span::ALL } else { span })
    }

    /// Whether a value agrees with the expected bytes at `at`, as far as they are known.
    fn agrees(&self, value: Term, model: &Model, at: u32) -> Result<(), TestCaseError> {
        let value = self.value(value).to_le_bytes();
        for (i, known) in model.iter().skip(at as usize).zip(value).enumerate() {
            if let (Some(byte), said) = known {
                prop_assert_eq!(*byte, said, "byte {} from {}", i, at);
            }
        }
        Ok(())
    }

    fn everything(&mut self, contents: &Contents, model: &Model) -> Result<(), TestCaseError> {
        let array = contents.array(&mut self.pool);
        for (at, known) in model.iter().enumerate() {
            let byte = contents.byte(&mut self.pool, at as u32);
            let index = self.pool.constant(64, at as u128);
            let same = self.pool.select(array, index);
            if let Some(known) = known {
                prop_assert_eq!(self.value(byte), u128::from(*known), "byte {}", at);
                prop_assert_eq!(self.value(same), u128::from(*known), "element {}", at);
            }
        }
        for (at, value) in contents.wholes(&self.pool, 0, SIZE) {
            let len = usize::from(self.pool.width(value) / 8);
            self.agrees(value, &model[..at as usize + len].to_vec(), at)?;
        }
        Ok(())
    }

    fn act(
        &mut self,
        act: &Act,
        contents: &mut Contents,
        model: &mut Model,
    ) -> Result<(), TestCaseError> {
        match act {
            Act::Read(place) => {
                let (offset, span) = self.offset(*place);
                let value = contents.read(&mut self.pool, offset, place.len, span);
                let end = (place.at + place.len) as usize;
                self.agrees(value, &model[..end].to_vec(), place.at)?;
            }
            Act::Write(place, value, cond) => {
                let (offset, span) = self.offset(*place);
                let width = place.len as u16 * 8;
                let bytes = value.to_le_bytes();
                let value = u128::from(*value) & crate::term::value::mask(width);
                let value = self.variable(width, value);
                match *cond {
                    None => contents.write(&mut self.pool, offset, value, span),
                    Some(holds) => {
                        let cond = self.variable(1, u128::from(holds));
                        contents.write_where(&mut self.pool, cond, (offset, value), span);
                    }
                }
                if *cond != Some(false) {
                    let end = (place.at + place.len) as usize;
                    let there = model[place.at as usize..end].iter_mut();
                    there.zip(bytes).for_each(|(old, new)| *old = Some(new));
                }
            }
            Act::Forget(low, high, keep) => {
                let unknown = self.unknown();
                let (low, high) = (*low, *high);
                contents.forget(&mut self.pool, unknown, Span { low, high }, *keep);
                for (at, byte) in model.iter_mut().enumerate() {
                    let at = at as u32;
                    if (low..high).contains(&at) {
                        *byte = Some(self.element(unknown, at));
                    } else if at >= *keep {
                        *byte = None;
                    }
                }
            }
            Act::Split(a, b, holds) => {
                let (mut other, mut bytes) = (contents.clone(), model.clone());
                for act in a {
                    self.act(act, contents, model)?;
                }
                for act in b {
                    self.act(act, &mut other, &mut bytes)?;
                }
                let cond = self.variable(1, u128::from(*holds));
                *contents = contents.merge(&mut self.pool, cond, &other);
                if !*holds {
                    *model = bytes;
                }
            }
        }
        self.everything(contents, model)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn contents_are_bytes(acts in prop::collection::vec(act(), 1..12), cells in any::<bool>()) {
        let mut checked = Checked { pool: Pool::new(), values: Values::default(), fresh: 0 };
        let (base, mut model): (Array, Model) = match cells {
            true => {
                let bytes: Vec<u8> = (0..SIZE as u8).collect();
                let base = checked.pool.array_constant(&bytes);
                (base, bytes.into_iter().map(Some).collect())
            }
            false => {
                let base = checked.unknown();
                (base, (0..SIZE).map(|at| Some(checked.element(base, at))).collect())
            }
        };
        let mut contents = Contents::new(base);
        for act in &acts {
            checked.act(act, &mut contents, &mut model)?;
        }
    }
}
