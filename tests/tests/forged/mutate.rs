//! Certificates with random changes in random places.

use cegar_checker::Certificate;
use serde_json::Value;

use crate::case::Case;
use crate::programs;

/// The number of changed certificates per program.
const MUTANTS: usize = 60;

/// Pseudo-random numbers that are the same in every run.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}

/// The JSON pointers of all values in a tree.
fn paths(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                open.extend(items.map(|(at, item)| (format!("{path}/{at}"), item)));
            }
            Value::Object(fields) => {
                open.extend(fields.iter().map(|(key, item)| {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    (format!("{path}/{key}"), item)
                }));
            }
            _ => {}
        }
        if !path.is_empty() {
            all.push(path);
        }
    }
    all.sort();
    all
}

/// Makes one change: to a number, a string, the order or the presence of items.
pub fn mutate(tree: &mut Value, chance: &mut Chance) {
    let paths = paths(tree);
    let path = &paths[chance.below(paths.len())];
    let other = tree.pointer(&paths[chance.below(paths.len())]).cloned();
    let text = (0..40).find_map(|_| {
        let value = tree.pointer(&paths[chance.below(paths.len())])?;
        value.is_string().then(|| value.clone())
    });
    let Some(value) = tree.pointer_mut(path) else {
        return;
    };
    match value {
        Value::Number(number) => {
            let before = number.as_u64().unwrap_or(0);
            let new = [
                before.wrapping_add(1),
                before.saturating_sub(1),
                0,
                before ^ 0x1_0000,
                1 << 31,
            ];
            *value = new[chance.below(new.len())].into();
        }
        Value::String(_) => *value = text.unwrap_or(Value::Null),
        Value::Array(items) if !items.is_empty() => {
            let (a, b) = (chance.below(items.len()), chance.below(items.len()));
            match chance.below(4) {
                0 => items.swap(a, b),
                1 => drop(items.remove(a)),
                2 => items.insert(b, items[a].clone()),
                _ => items[a] = items[b].clone(),
            }
        }
        _ => *value = other.unwrap_or(Value::Null),
    }
}

/// No change proves a bug: neither to the program's own certificate nor to that of the corrected
/// program.
#[test]
fn no_mutant_proves_a_bug() {
    let mut chance = Chance(0x5eed);
    let (mut read, mut all) = (0, 0);
    for buggy in programs::sampled(0) {
        let (fixed, case) = Case::pair(buggy.text, buggy.properties);
        let bug = case.bug(&[(buggy.tape)()]);
        for number in 0..MUTANTS {
            let from = [&case.honest, &fixed.honest][number % 2];
            let mut forged = from.clone();
            Case::claim(&mut forged, &[bug]);
            let mut tree = serde_json::to_value(&forged).unwrap_or_else(|why| panic!("{why}"));
            for _ in 0..=chance.below(3) {
                mutate(&mut tree, &mut chance);
            }
            all += 1;
            let Ok(mutant) = serde_json::from_value::<Certificate>(tree) else {
                continue;
            };
            if mutant.check(bug).is_none_or(|claim| claim.given.is_some()) {
                continue;
            }
            read += 1;
            assert!(
                case.check(&mutant).is_err(),
                "{}: mutant {number} is accepted: {}",
                buggy.name,
                serde_json::to_string(&mutant).unwrap_or_default()
            );
        }
    }
    let part = programs::part();
    assert!(all >= 600 / part && read >= 200 / part, "{read} of {all}");
}

/// An unknown field is an error at every level.
#[test]
fn fields_that_nobody_knows() {
    let (fixed, _) = Case::pair(programs::CELLS, crate::case::MEMORY);
    let tree = serde_json::to_value(&fixed.honest).unwrap_or_else(|why| panic!("{why}"));
    let mut levels = vec![String::new()];
    levels.extend(paths(&tree));
    let mut tried = std::collections::BTreeSet::new();
    for path in levels {
        let mut tree = tree.clone();
        let Some(Value::Object(fields)) = tree.pointer_mut(&path) else {
            continue;
        };
        fields.insert("trust".to_owned(), true.into());
        assert!(
            serde_json::from_value::<Certificate>(tree).is_err(),
            "{path}"
        );
        let kinds = path.split('/').filter(|step| step.parse::<u32>().is_err());
        tried.insert(kinds.collect::<Vec<_>>().join("/"));
    }
    assert!(tried.len() >= 6, "{tried:?}");
}
