//! The kinds of generated programs: how they are generated, and how their truth is known.

use cegar_model::program::Property;
use cegar_tests::generate::{self, Form, Generated, Seen, known};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::compiled;
use super::judge::{Judgement, judge};
use super::truth::{Effort, Truth};

/// A kind of generated programs.
pub trait ProgramSource: Sync {
    type Value: std::fmt::Debug + Clone;

    fn trees(
        &self,
        runner: &mut TestRunner,
        count: usize,
    ) -> Vec<Box<dyn ValueTree<Value = Self::Value>>>;

    /// The sort of a program within its kind.
    fn shape(&self, program: &Self::Value) -> &'static str;

    /// The judgements of some programs, with their texts for people. The programs are numbered from
    /// `first`.
    fn judge(
        &self,
        programs: &[Self::Value],
        first: usize,
        properties: &'static [Property],
    ) -> Vec<(Judgement, String)>;
}

/// Random programs of the grammar.
pub struct Grammar;

impl Grammar {
    fn alphabet(text: &str) -> Vec<Vec<u8>> {
        let mut alphabet: Vec<Vec<u8>> = (0..4).map(|b| vec![b]).collect();
        if text.contains("getchar()") {
            alphabet.extend([vec![b'a'], vec![0xff]]);
        }
        alphabet
    }

    const EFFORT: Effort = Effort {
        units: 6,
        runs: 2_500,
        steps: 600_000,
        longest: 12_000,
    };
}

impl ProgramSource for Grammar {
    type Value = Generated;

    fn shape(&self, _: &Generated) -> &'static str {
        "random"
    }

    fn trees(
        &self,
        runner: &mut TestRunner,
        count: usize,
    ) -> Vec<Box<dyn ValueTree<Value = Generated>>> {
        let strategy = generate::programs();
        let tree = |_| {
            strategy
                .new_tree(runner)
                .expect("the grammar rejects nothing")
        };
        (0..count)
            .map(tree)
            .map(|t| Box::new(t) as Box<_>)
            .collect()
    }

    fn judge(
        &self,
        programs: &[Generated],
        first: usize,
        properties: &'static [Property],
    ) -> Vec<(Judgement, String)> {
        let write = |seen: Option<&[Seen]>| -> Vec<String> {
            let text = |(i, program): (usize, &Generated)| {
                let form = seen.map_or(Form::Observing, |seen| Form::Asserting(&seen[i]));
                program.render(&compiled::suffix(i), form)
            };
            programs.iter().enumerate().map(text).collect()
        };
        let texts = write(None);
        let mut program =
            compiled::together(&texts, properties).unwrap_or_else(|why| panic!("{why}"));
        let mut seen = Vec::new();
        for (i, text) in texts.iter().enumerate() {
            compiled::start_in(&mut program, i);
            let truth = Truth::explore(&program, &Grammar::alphabet(text), Grammar::EFFORT);
            seen.push(truth.seen);
        }
        let texts = write(Some(&seen));
        let mut program =
            compiled::together(&texts, properties).unwrap_or_else(|why| panic!("{why}"));
        let judged = programs.iter().enumerate().map(|(i, generated)| {
            compiled::start_in(&mut program, i);
            let truth = Truth::explore(&program, &Grammar::alphabet(&texts[i]), Grammar::EFFORT);
            let suffix = compiled::suffix(i);
            let of = |name: &str| name.ends_with(&suffix);
            let judgement = judge(
                &program,
                &truth,
                properties,
                (first + i).is_multiple_of(2),
                &of,
            );
            (judgement, generated.render("", Form::Asserting(&seen[i])))
        });
        judged.collect()
    }
}

/// Programs whose verdict is known by construction.
pub struct KnownTruth;

impl ProgramSource for KnownTruth {
    type Value = known::Known;

    fn shape(&self, program: &known::Known) -> &'static str {
        program.name()
    }

    fn trees(
        &self,
        runner: &mut TestRunner,
        count: usize,
    ) -> Vec<Box<dyn ValueTree<Value = known::Known>>> {
        let strategy = known::programs();
        let tree = |_| strategy.new_tree(runner).expect("nothing is rejected");
        (0..count)
            .map(tree)
            .map(|t| Box::new(t) as Box<_>)
            .collect()
    }

    fn judge(
        &self,
        programs: &[known::Known],
        first: usize,
        properties: &'static [Property],
    ) -> Vec<(Judgement, String)> {
        let texts: Vec<String> = programs
            .iter()
            .enumerate()
            .map(|(i, program)| program.render(&compiled::suffix(i)))
            .collect();
        let mut program =
            compiled::together(&texts, properties).unwrap_or_else(|why| panic!("{why}"));
        let effort = Effort {
            units: 10,
            runs: 3_000,
            steps: 3_000_000,
            longest: 100_000,
        };
        let judged = programs.iter().enumerate().map(|(i, known)| {
            compiled::start_in(&mut program, i);
            let truth = Truth::explore(&program, &known.alphabet(), effort);
            let suffix = compiled::suffix(i);
            let of = |name: &str| name.ends_with(&suffix);
            let mut judgement = judge(
                &program,
                &truth,
                properties,
                (first + i).is_multiple_of(2),
                &of,
            );
            if truth.violated.is_empty() != known.safe {
                judgement.wrong.push(format!(
                    "{} is thought {}safe: {:?}",
                    known.name(),
                    if known.safe { "" } else { "un" },
                    truth.violated
                ));
            }
            judgement.correct = known.safe;
            (judgement, known.render(""))
        });
        judged.collect()
    }
}
