//! The results for many programs, by kind. Rates are required, since a prover that proves nothing
//! makes no mistake either.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::judge::Judgement;

/// The results for the programs of one kind.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The number of programs.
    pub programs: usize,
    /// How many have a proved check or block.
    pub with_proofs: usize,
    /// How many are correct by construction.
    pub correct: usize,
    /// How many of the correct ones are proved completely.
    pub whole: usize,
    /// The number of non-trivial checks that no execution violates.
    pub safe: usize,
    /// How many of these checks are proved.
    pub proved: usize,
    /// How many of these checks are proved if others hold.
    pub conditional: usize,
    /// The number of blocks that are proved unreachable.
    pub blocks: usize,
    /// The number of certificates, all of which were checked.
    pub certificates: usize,
    /// The number of the checker's solver queries.
    pub questions: u64,
}

impl Tally {
    /// Adds the result for a program.
    pub fn add(&mut self, judgement: &Judgement) {
        self.programs += 1;
        let some = judgement.proved + judgement.conditional + judgement.blocks > 0;
        self.with_proofs += usize::from(some);
        self.correct += usize::from(judgement.correct);
        self.whole += usize::from(judgement.correct && judgement.all);
        self.safe += judgement.safe;
        self.proved += judgement.proved;
        self.conditional += judgement.conditional;
        self.blocks += judgement.blocks;
        self.certificates += 1;
        self.questions += judgement.questions;
    }

    fn percent(part: usize, of: usize) -> usize {
        100 * part / of.max(1)
    }
}

/// The results for all programs.
#[derive(Debug, Default)]
pub struct Total {
    kinds: Mutex<BTreeMap<String, Tally>>,
    wrong: Mutex<Vec<String>>,
}

impl Total {
    /// Adds the result for a program of a kind.
    pub fn add(&self, kind: &str, judgement: &Judgement) {
        let mut kinds = self.kinds.lock().expect("not poisoned");
        kinds.entry(kind.to_owned()).or_default().add(judgement);
    }

    /// Adds a wrong answer.
    pub fn wrong(&self, told: String) {
        eprintln!("{told}");
        self.wrong.lock().expect("not poisoned").push(told);
    }

    /// Prints the results, and fails if there were wrong answers.
    pub fn tell(self, what: &str, seed: u64) -> BTreeMap<String, Tally> {
        let kinds = self.kinds.into_inner().expect("not poisoned");
        for (kind, tally) in &kinds {
            let Tally {
                programs,
                with_proofs,
                correct,
                whole,
                ..
            } = tally;
            eprintln!(
                "{what}, seed {seed}: {kind}: {programs} programs, something proved of \
                 {with_proofs}; {correct} correct, all proved of {whole}; of {} checks that hold \
                 {} proved ({} %), {} if others hold; {} blocks unreachable; {} certificates \
                 checked with {} questions",
                tally.safe,
                tally.proved,
                Tally::percent(tally.proved, tally.safe),
                tally.conditional,
                tally.blocks,
                tally.certificates,
                tally.questions,
            );
        }
        let wrong = self.wrong.into_inner().expect("not poisoned");
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
        kinds
    }
}

/// The minimum rates of proofs, in percent.
#[derive(Clone, Copy, Debug)]
pub struct MinimumRates {
    /// The rate of programs of which something is proved.
    pub programs: usize,
    /// The rate of proved checks among those that hold.
    pub checks: usize,
    /// Sorts of programs, and the rate of their correct programs that are proved completely.
    pub whole: (&'static [&'static str], usize),
}

/// Asserts that the rates are reached.
pub fn at_least(kinds: &BTreeMap<String, Tally>, floor: MinimumRates) {
    let sum = |of: &dyn Fn(&Tally) -> usize| -> usize { kinds.values().map(of).sum() };
    let programs = Tally::percent(sum(&|t| t.with_proofs), sum(&|t| t.programs));
    let checks = Tally::percent(sum(&|t| t.proved + t.conditional), sum(&|t| t.safe));
    assert!(
        programs >= floor.programs && checks >= floor.checks,
        "something is proved of {programs} % of the programs, and {checks} % of the checks are: \
         {floor:?}"
    );
    let (sorts, least) = floor.whole;
    for sort in sorts {
        let of_it = kinds.iter().filter(|(kind, _)| {
            let name = kind.rsplit_once(", ").map(|(name, _)| name);
            name == Some(*sort)
        });
        let (whole, correct) = of_it.fold((0, 0), |(whole, correct), (_, tally)| {
            (whole + tally.whole, correct + tally.correct)
        });
        // A rate of one or two programs means nothing.
        assert!(
            correct < 3 || Tally::percent(whole, correct) >= least,
            "all is proved of {whole} of {correct} correct programs of the sort `{sort}`, not of \
             {least} %"
        );
    }
}
