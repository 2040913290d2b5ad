//! Random C programs that are small enough to decide their verdicts by execution.
//!
//! A prover that reports "proved" for a check that some execution violates is worse than none.
//! Hand-written examples do not reveal such faults, because they contain only what their author
//! thought of. So programs are drawn from a grammar (see [`grammar`]) that combines pointers,
//! lifetimes, loops and calls in ways that nobody would write. Their whole input is a few bytes,
//! each of a few values, so that executing them on all tapes decides their verdicts.
//!
//! A random condition is nearly always either violated at once or trivial. Conditions that are as
//! tight as possible are more interesting. So an assertion of a program starts as an *observation*:
//! the program is executed to record the values of the assertion's expression. The condition is
//! then made from these values: that they are the only ones, or all but one of them.

pub mod grammar;
pub mod known;

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::{BoxedStrategy, Just, Union};

/// A piece of C: text with holes, and the nodes that fill them, in order.
#[derive(Clone, Debug)]
pub struct Node {
    text: &'static str,
    parts: Vec<Node>,
}

/// The values that observed expressions took, by the number of the observation.
pub type Seen = BTreeMap<u32, Vec<i64>>;

/// The form in which a program is rendered.
#[derive(Clone, Copy, Debug)]
pub enum Form<'a> {
    /// Observations only report (see [`Generated::OBSERVED`]).
    Observing,
    /// Observations become assertions about the recorded values.
    Asserting(&'a Seen),
}

/// A program of the grammar: the bodies of [`grammar::SHELL`], for the helper functions and the
/// entry function.
#[derive(Clone)]
pub struct Generated {
    bodies: Vec<Node>,
}

impl fmt::Debug for Generated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render("", Form::Observing))
    }
}

/// Renders a program as C text.
struct Writer<'a> {
    out: String,
    suffix: &'a str,
    form: Form<'a>,
    observations: u32,
}

impl Generated {
    /// The output stream that observations are reported on: a number and a value, 8 bytes each.
    pub const OBSERVED: i32 = 9;

    /// The program as C text. Every global name ends in `suffix`, so that one file can contain many
    /// programs; the entry function is `entry<suffix>`.
    pub fn render(&self, suffix: &str, form: Form<'_>) -> String {
        let mut writer = Writer {
            out: String::new(),
            suffix,
            form,
            observations: 0,
        };
        let mut bodies = self.bodies.iter();
        writer.text(grammar::SHELL, &mut |writer| {
            if let Some(body) = bodies.next() {
                writer.node(body);
            }
        });
        writer.out
    }
}

impl Writer<'_> {
    /// Writes text; `fill` writes the content of each hole.
    fn text(&mut self, text: &str, fill: &mut dyn FnMut(&mut Self)) {
        for (i, piece) in text.split(['<', '>']).enumerate() {
            if i % 2 == 1 {
                fill(self);
                continue;
            }
            for c in piece.chars() {
                match c {
                    '@' => self.out.push_str(self.suffix),
                    '\u{ab}' => self.out.push('<'),
                    '\u{bb}' => self.out.push('>'),
                    c => self.out.push(c),
                }
            }
        }
    }

    fn node(&mut self, node: &Node) {
        if let Some(how) = node.text.strip_prefix("see ") {
            return self.observation(how, node);
        }
        let mut parts = node.parts.iter();
        let list = node.text == "list";
        if list {
            for part in parts {
                self.node(part);
            }
            return;
        }
        self.text(node.text, &mut |writer| {
            if let Some(part) = parts.next() {
                writer.node(part);
            }
        });
        if node.text.ends_with([';', '}']) {
            self.out.push('\n');
        }
    }

    fn observation(&mut self, how: &str, node: &Node) {
        let number = self.observations;
        self.observations += 1;
        match self.form {
            Form::Observing => {
                self.out.push_str(&format!("observe({number}, (long)("));
                node.parts.iter().for_each(|part| self.node(part));
                self.out.push_str("));\n");
            }
            Form::Asserting(seen) => {
                let values = seen.get(&number).map_or(&[][..], Vec::as_slice);
                self.out.push_str("{ long seen = (long)(");
                node.parts.iter().for_each(|part| self.node(part));
                let condition = condition(how, values);
                self.out.push_str(&format!("); assert({condition}); }}\n"));
            }
        }
    }
}

/// A condition on the variable `seen`. The kinds that start with "wrong" exclude one recorded
/// value; the others hold for all recorded values, except that `values` lists only eight of them.
fn condition(how: &str, values: &[i64]) -> String {
    let (Some(&least), Some(&most)) = (values.iter().min(), values.iter().max()) else {
        // The observation was never executed, so even `assert(0)` holds there.
        return "0".to_owned();
    };
    let any = |values: &[i64]| {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.truncate(8);
        let equal: Vec<String> = sorted.iter().map(|v| format!("seen == {v}L")).collect();
        equal.join(" || ")
    };
    match how {
        "most" => format!("seen <= {most}L"),
        "least" => format!("seen >= {least}L"),
        "range" => format!("seen >= {least}L && seen <= {most}L"),
        "values" => any(values),
        "other" => format!("seen != {}L", most.wrapping_add(1)),
        "wrong most" => format!("seen < {most}L"),
        "wrong least" => format!("seen > {least}L"),
        "wrong value" => format!("seen != {}L", values[values.len() / 2]),
        _ => "1".to_owned(),
    }
}

/// Programs of the grammar.
pub fn programs() -> BoxedStrategy<Generated> {
    let mut strategies = Strategies::default();
    let bodies: Vec<BoxedStrategy<Node>> = grammar::BODIES
        .iter()
        .map(|(length, callable)| {
            strategies.callable = callable;
            strategies.known.clear();
            strategies.list("stmt", *length, 3)
        })
        .collect();
    bodies.prop_map(|bodies| Generated { bodies }).boxed()
}

/// The strategies for the body of one function. They depend on the functions that it may call.
#[derive(Default)]
struct Strategies {
    callable: &'static [&'static str],
    known: BTreeMap<(&'static str, u32), BoxedStrategy<Node>>,
}

impl Strategies {
    fn list(&mut self, of: &'static str, most: usize, depth: u32) -> BoxedStrategy<Node> {
        vec(self.of(of, depth), 0..most + 1)
            .prop_map(|parts| Node {
                text: "list",
                parts,
            })
            .boxed()
    }

    /// The strategy for a hole of this name. At depth 0, expressions have no holes, and statements
    /// contain no other statements.
    fn of(&mut self, name: &'static str, depth: u32) -> BoxedStrategy<Node> {
        if let Some(known) = self.known.get(&(name, depth)) {
            return known.clone();
        }
        let strategy = match name {
            "stmts" => self.list("stmt", 3, depth.saturating_sub(1)),
            "block" => self
                .list("stmt", 3, depth.saturating_sub(1))
                .prop_map(|list| Node {
                    text: "{\n<stmts>}",
                    parts: vec![list],
                })
                .boxed(),
            _ => self.alternatives(name, depth),
        };
        self.known.insert((name, depth), strategy.clone());
        strategy
    }

    fn alternatives(&mut self, name: &'static str, depth: u32) -> BoxedStrategy<Node> {
        let rules = grammar::rules(name);
        let mut all = Vec::new();
        for &(weight, text) in rules {
            let callable = |f: &&str| self.callable.contains(f) || !names(text, f);
            let allowed = grammar::FUNCTIONS.iter().all(callable);
            let holes: Vec<&'static str> = match text.strip_prefix("see ") {
                Some(_) => vec!["int"],
                None => text.split(['<', '>']).skip(1).step_by(2).collect(),
            };
            let deep = holes.iter().any(|h| matches!(*h, "stmts" | "block"));
            if !allowed || (depth == 0 && !holes.is_empty() && name != "stmt") {
                continue;
            }
            if depth == 0 && deep {
                continue;
            }
            let parts: Vec<BoxedStrategy<Node>> = holes
                .iter()
                .map(|hole| match (*hole, name) {
                    ("int" | "ptr", "stmt") => self.of(hole, 2),
                    ("int" | "ptr", _) => self.of(hole, depth - 1),
                    _ => self.of(hole, depth),
                })
                .collect();
            let parts = Rc::new(parts);
            let strategy = if parts.is_empty() {
                Just(Node {
                    text,
                    parts: Vec::new(),
                })
                .boxed()
            } else {
                Vec::clone(&parts)
                    .prop_map(move |parts| Node { text, parts })
                    .boxed()
            };
            all.push((weight, strategy));
        }
        Union::new_weighted(all).boxed()
    }
}

/// Whether a rule names a function.
fn names(text: &str, function: &str) -> bool {
    text.match_indices(function).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
