//! What came of many programs, by kind: a prover that proves nothing makes no mistake either.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::judge::Judgement;

/// Programs of one kind.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How many.
    pub programs: usize,
    /// Those of them of which something is proved.
    pub with_proofs: usize,
    /// Those that are correct by construction.
    pub correct: usize,
    /// Those of them of which all that is asked is proved.
    pub whole: usize,
    /// Checks that no execution violates, trivial ones left out.
    pub safe: usize,
    /// Those of them that are proved.
    pub proved: usize,
    /// Those of them that are proved if others hold.
    pub conditional: usize,
    /// Blocks that are proved unreachable.
    pub blocks: usize,
    /// Certificates, all of which were checked.
    pub certificates: usize,
    /// Questions that the checker asked.
    pub questions: u64,
}

impl Tally {
    /// Adds a program.
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

/// Many programs.
#[derive(Debug, Default)]
pub struct Total {
    kinds: Mutex<BTreeMap<String, Tally>>,
    wrong: Mutex<Vec<String>>,
}

impl Total {
    /// Adds a program of a kind.
    pub fn add(&self, kind: &str, judgement: &Judgement) {
        let mut kinds = self.kinds.lock().expect("not poisoned");
        kinds.entry(kind.to_owned()).or_default().add(judgement);
    }

    /// Adds something wrong.
    pub fn wrong(&self, told: String) {
        eprintln!("{told}");
        self.wrong.lock().expect("not poisoned").push(told);
    }

    /// Prints what came out, and fails if something is wrong.
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

/// What is proved at least, in percent.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    /// Of how many programs something.
    pub programs: usize,
    /// Of the checks that hold.
    pub checks: usize,
    /// Sorts of programs of which, where they are correct, all is proved of so many.
    pub whole: (&'static [&'static str], usize),
}

/// Fails where less is proved.
pub fn at_least(kinds: &BTreeMap<String, Tally>, floor: Floor) {
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
        // Of one or two programs a rate says nothing.
        assert!(
            correct < 3 || Tally::percent(whole, correct) >= least,
            "all is proved of {whole} of {correct} correct programs of the sort `{sort}`, not of \
             {least} %"
        );
    }
}
