//! The strategies that settle the goals, and their common parts.
//!
//! [`auto`] is the tool's own; the published ones are in a separate crate (`cegar-papers`) that
//! depends on this one. All of them end in the same way ([`Proof`]): with facts at the cut points
//! of a graph, the goals that these settle, and a certificate that one checker checks. Inputs that
//! lead to a violation go to the fuzzer ([`Options::seeds`]) and count when a native run has shown
//! the violation.

pub mod auto;
pub mod conditions;
pub mod executed;
pub mod options;
pub mod outcome;
pub mod parts;

use serde::{Deserialize, Serialize};

pub use self::options::{Coverage, Options, Seed, Stats, Verdict};
pub use self::outcome::{Evidence, Outcome, Proof};

/// A strategy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Fuzzing, the search and invariants in levels ([`auto`]).
    #[default]
    Auto,
    /// Gulavani, Henzinger, Kannan, Nori and Rajamani, *SYNERGY: a new algorithm for property
    /// checking* (2006), figure 2.
    Synergy,
    /// Lee and Yannakakis, *On-line minimization of transition systems* (1992), in the form of
    /// figure 5 of the Synergy paper.
    LeeYannakakis,
    /// Godefroid, Klarlund and Sen, *DART: directed automated random testing* (2005).
    Dart,
    /// Kroening, Groce and Clarke, *Counterexample guided abstraction refinement via program
    /// execution* (2004).
    Crunner,
    /// Ball and Rajamani's loop, in the form that CRunner's paper compares with: predicate
    /// abstraction from the program's start, without executions.
    Slam,
    /// Kroening and Weissenbacher, *Counterexamples with loops for predicate abstraction* (2006).
    Satabs,
}

impl Strategy {
    /// All of them, the default first.
    pub const ALL: [Strategy; 7] = [
        Strategy::Auto,
        Strategy::Synergy,
        Strategy::LeeYannakakis,
        Strategy::Dart,
        Strategy::Crunner,
        Strategy::Slam,
        Strategy::Satabs,
    ];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Auto => "auto",
            Strategy::Synergy => "synergy",
            Strategy::LeeYannakakis => "lee-yannakakis",
            Strategy::Dart => "dart",
            Strategy::Crunner => "crunner",
            Strategy::Slam => "slam",
            Strategy::Satabs => "satabs",
        }
    }

    /// A description in one line.
    pub fn about(self) -> &'static str {
        match self {
            Strategy::Auto => {
                "fuzzing, directed search and invariants around loops, each where it helps"
            }
            Strategy::Synergy => {
                "a forest of tests and a partition of the states, split where the tests end"
            }
            Strategy::LeeYannakakis => {
                "the reachable bisimulation quotient: one witness a region, all regions made stable"
            }
            Strategy::Dart => "directed testing alone: one path after the other, no abstraction",
            Strategy::Crunner => {
                "predicate abstraction from the current input on, simulated one input at a time"
            }
            Strategy::Slam => "predicate abstraction from the program's start, no execution",
            Strategy::Satabs => "the same, with counterexamples that have loops in them",
        }
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Strategy, String> {
        let found = Strategy::ALL.into_iter().find(|s| s.name() == text);
        found.ok_or_else(|| {
            let names: Vec<&str> = Strategy::ALL.iter().map(|s| s.name()).collect();
            format!(
                "there is no strategy `{text}`; there are {}",
                names.join(", ")
            )
        })
    }
}
