//! The harness of an object's whole life: the object is created, used several times in an order
//! that the tape chooses, and closed.
//!
//! The orders are those that callers were seen to use ([`crate::init::orders`]), or any order for a
//! container that no caller uses. Memory that is passed to one use lives until the object is
//! closed, unless the header says that the library copies it.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{ASSUMES_GUESSES, spaced, wrapped};
use super::uses::{Case, KEPT_FREED};
use super::{Adjust, Body, Harness, READS, has_word};
use crate::init::api::{Api, Declared};
use crate::init::orders::CallAutomaton;

/// The maximum number of uses of one object in a run.
const TURNS: usize = 16;
/// The maximum number of calls before them that fill the object.
const PUTS: usize = 24;
/// The maximum number of functions that one harness calls.
const USERS: usize = 16;
/// Names of such a harness that no parameter may have.
const OWN: [&str; 7] = [
    "may_follow",
    "may_follow_count",
    "last",
    "use",
    "next",
    "owned",
    "owns",
];
/// The score of the life of an object that reads data: above a harness that calls only one
/// function.
const FIRST: i32 = 200;
/// The prefix of the names of such harnesses.
pub const LIFE: &str = "uses_";

/// The name of the harness for the object with this identity.
pub fn automaton_name(identity: &str) -> String {
    let first = identity.split(' ').next().unwrap_or(identity);
    format!("{LIFE}{}", first.trim_start_matches('_').to_lowercase())
}

/// Writes the harness of an object's life, or returns the reason why there is none.
pub fn automaton_harness(
    api: &Api,
    usable: &BTreeSet<String>,
    (identity, automaton): (&str, &CallAutomaton),
    include: &str,
    adjust: &Adjust,
) -> Result<Harness, String> {
    let seen: BTreeSet<&String> = automaton.next.values().flatten().collect();
    let users = api.functions.iter().filter(|function| {
        let body = Body::new(api, usable, function, adjust);
        seen.contains(&function.name) && body.place_of(function, identity).is_some()
    });
    let users: Vec<&Declared> = users.collect();
    // Deprecated functions are not called together with recommended ones, because many cannot be
    // called safely with data from outside. They still get harnesses of their own.
    let advised = users.iter().filter(|function| !function.deprecated);
    let advised: Vec<&Declared> = advised.copied().collect();
    let users = if advised.is_empty() { users } else { advised };
    let edges = |function: &Declared| {
        let to = automaton
            .next
            .values()
            .filter(|next| next.contains(&function.name));
        let from = automaton.next.get(&function.name).map_or(0, BTreeSet::len);
        let reads = has_word(&function.name, READS);
        let body = Body::new(api, usable, function, adjust);
        (reads, body.has_input(function), to.count() + from)
    };
    let main = users.iter().max_by_key(|function| edges(function));
    let main = main.ok_or("nothing is seen to use it")?;
    let mut body = Body::new(api, usable, main, adjust);
    body.nested = 1;
    body.names.extend(OWN.map(str::to_owned));
    body.preferred = automaton.next.keys().cloned().collect();
    let place = body.place_of(main, identity).ok_or("it is not used")?;
    let param = &main.params[place];
    let to = api.pointee(&param.ty).unwrap_or_else(|| param.ty.clone());
    let object = body.made(main, param, &to, identity, 0)?;
    let made = body.lines.join("\n");
    let makers = automaton
        .next
        .keys()
        .filter(|name| made.contains(&format!("{name}(")));
    let makers: Vec<&str> = makers.map(String::as_str).collect();
    let mut cases: Vec<Case<'_>> = Vec::new();
    for user in &users {
        if cases.len() < USERS
            && let Some(case) = body.case(user, identity, &object)
        {
            cases.push(case);
        }
    }
    let mut cases = reachable(cases, &makers, automaton);
    body.go_on_with_new(&mut cases, &object, identity);
    if cases.len() < 2 {
        return Err("the code that uses it shows fewer than two of its functions".to_owned());
    }
    let rows = rows(&cases, &makers, automaton);
    let harness = body.finish_automaton(main, (identity, automaton), (&cases, &rows), include);
    super::with_assumptions(harness, adjust)
}

/// The cases that some order of calls reaches.
fn reachable<'a>(
    cases: Vec<Case<'a>>,
    makers: &[&str],
    automaton: &CallAutomaton,
) -> Vec<Case<'a>> {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = makers.to_vec();
    while let Some(from) = open.pop() {
        for to in automaton.next.get(from).into_iter().flatten() {
            let is_case = cases.iter().any(|case| case.function.name == *to);
            if is_case && reached.insert(to) {
                open.push(to);
            }
        }
    }
    let is_reached = |case: &Case<'_>| reached.contains(case.function.name.as_str());
    cases.into_iter().filter(is_reached).collect()
}

/// For the beginning and for each case, the numbers of the cases that may follow.
fn rows(cases: &[Case<'_>], makers: &[&str], automaton: &CallAutomaton) -> Vec<Vec<usize>> {
    let number: BTreeMap<&str, usize> = cases
        .iter()
        .enumerate()
        .map(|(i, case)| (case.function.name.as_str(), i))
        .collect();
    let behind = |from: &str| {
        let all = automaton.next.get(from).into_iter().flatten();
        all.filter_map(|to| number.get(to.as_str()).copied())
            .collect::<BTreeSet<usize>>()
    };
    let first: BTreeSet<usize> = makers.iter().flat_map(|maker| behind(maker)).collect();
    let others = cases.iter().map(|case| behind(&case.function.name));
    [first]
        .into_iter()
        .chain(others)
        .map(|row| row.into_iter().collect())
        .collect()
}

impl<'a> Body<'a> {
    /// If a use returns a new object of the same kind, lets the following uses work on the new
    /// object. The old one lives until the end, because the new one may lie in it.
    fn go_on_with_new(&mut self, cases: &mut [Case<'_>], object: &str, identity: &str) {
        // The harness's own variable cannot be replaced.
        if object.starts_with('&') {
            return;
        }
        let mut back = None;
        let mut declared = String::new();
        for case in cases {
            let Some(gives_back) = self.derived(case.function, identity) else {
                continue;
            };
            let Some(call) = case.lines.pop() else {
                continue;
            };
            declared = spaced(&case.function.returns.words);
            case.lines.push(format!("{declared}next = {call}"));
            case.lines.push(format!(
                "if (next) {{\n                owned[owns++] = {object};\n                {object} \
                 = next;\n            }}"
            ));
            back = Some(gives_back);
        }
        if let Some(back) = back {
            self.lines.push(format!("{declared}owned[{TURNS}];"));
            self.lines.push("int owns = 0;".to_owned());
            let ends = self.release_call(back, object);
            let at = self.cleanup.iter().position(|line| line.contains(&ends));
            let rest = self.release_call(back, "owned[--owns]");
            let at = at.map_or(0, |at| at + 1);
            self.cleanup
                .insert(at, format!("while (owns > 0)\n        {rest};"));
        }
    }

    /// The case that fills the object: a function that puts an item in, may come first, and may
    /// follow itself.
    fn filled_by(&self, cases: &[Case<'_>], rows: &[Vec<usize>]) -> Option<usize> {
        let is_free =
            |number: usize| rows[0].contains(&number) && rows[number + 1].contains(&number);
        (0..cases.len()).find(|&number| self.is_put(cases[number].function) && is_free(number))
    }

    /// The statements that release everything at the end.
    fn closed(&mut self, cases: &[Case<'_>]) -> String {
        let mut text = String::new();
        let numbered = (1..).zip(cases);
        let kept: Vec<String> = numbered
            .filter(|(_, case)| self.api.orders.is_kept(&case.function.name))
            .map(|(number, _)| format!("last != {number}"))
            .collect();
        for line in std::mem::take(&mut self.cleanup) {
            let gives_back = self.api.functions.iter().any(|function| {
                self.gives_back(function).is_some() && line.contains(&format!("{}(", function.name))
            });
            if gives_back && !kept.is_empty() {
                text += "    /* Behind those cases no caller gives the object back. */\n";
                text += &format!("    if ({})\n        {line}\n", kept.join(" && "));
            } else {
                text += &format!("    {line}\n");
            }
        }
        text
    }

    fn finish_automaton(
        mut self,
        main: &Declared,
        (identity, automaton): (&str, &CallAutomaton),
        (cases, rows): (&[Case<'_>], &[Vec<usize>]),
        include: &str,
    ) -> Harness {
        let files: Vec<&str> = automaton.files.iter().take(3).map(String::as_str).collect();
        let more = if automaton.files.len() > files.len() {
            " and others"
        } else {
            ""
        };
        let orders = match files.is_empty() {
            true => "No caller shows an order of calls: every order is tried".to_owned(),
            false => format!(
                "What may follow what is what callers do: {}{more}",
                files.join(", ")
            ),
        };
        let mut told = format!(
            "Makes a {identity}, uses it in an order that the search chooses, and gives it back.\n \
             *\n * {orders}."
        );
        let (mut begins, ends) = self.whole(main);
        told += &self.guessed();
        let mut code = self.lines.clone();
        code.extend(self.cleanup.iter().cloned());
        code.extend(cases.iter().flat_map(|case| case.lines.iter().cloned()));
        self.callbacks
            .extend(cases.iter().flat_map(|case| case.callbacks.iter().cloned()));
        let mut text = self.head(&told, include, &code.join("\n"), true);
        text += &table(rows);
        text += "int main(void)\n{\n";
        let blocks = cases.iter().map(|case| case.blocks).max().unwrap_or(0);
        let filled = self.filled_by(cases, rows);
        if blocks > 0 {
            text += "    /* What was passed: the library may keep pointers to it. */\n";
            let most = if filled.is_some() {
                TURNS + PUTS
            } else {
                TURNS
            };
            text += &format!("    void *kept[{}];\n    int keeps = 0;\n", blocks * most);
        }
        begins.insert(0, ASSUMES_GUESSES.to_owned());
        for line in begins.iter().chain(&self.lines) {
            text += &format!("    {}\n", wrapped(line));
        }
        text += &uses(cases, filled);
        text += &self.closed(cases);
        if blocks > 0 {
            text += &format!("    {KEPT_FREED}\n");
        }
        text.extend(ends.map(|line| format!("    {line}\n")));
        text += "    return 0;\n}\n";
        let names: Vec<&str> = cases
            .iter()
            .map(|case| case.function.name.as_str())
            .collect();
        Harness {
            passed: names.join(", "),
            // It covers the functions that would be driven one by one otherwise.
            score: match has_word(&main.name, READS) {
                true => FIRST,
                false => FIRST / 2,
            },
            drives: main.name.clone(),
            fillers: Vec::new(),
            text,
        }
    }
}

/// The table of permitted successors in C.
fn table(rows: &[Vec<usize>]) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or(1);
    let mut text = String::new();
    text += "/* First what may come at the beginning, then what may come behind each of the cases. \
        */\n";
    text += &format!("static const unsigned char may_follow[][{width}] = {{\n");
    for row in rows {
        let numbers: Vec<String> = row.iter().map(usize::to_string).collect();
        let numbers = if row.is_empty() {
            "0".to_owned()
        } else {
            numbers.join(", ")
        };
        text += &format!("    {{{numbers}}},\n");
    }
    text += "};\n";
    let counts: Vec<String> = rows.iter().map(|row| row.len().to_string()).collect();
    text += &format!(
        "static const unsigned char may_follow_count[] = {{{}}};\n\n",
        counts.join(", ")
    );
    text
}

/// The loop of uses in C, after the loop that fills the object if case `filled` does so.
fn uses(cases: &[Case<'_>], filled: Option<usize>) -> String {
    let mut text = "    int last = 0;\n".to_owned();
    if let Some(put) = filled {
        text +=
            &format!("    for (int puts = (int)crunner_size(0, {PUTS}); puts > 0; puts--) {{\n");
        for line in &cases[put].lines {
            text += &format!("        {}\n", wrapped(line));
        }
        text += &format!("        last = {};\n    }}\n", put + 1);
    }
    text += &format!(
        "    for (int turns = (int)crunner_size(1, {TURNS}); turns > 0 && may_follow_count[last] > \
         0; turns--) {{\n        int use = may_follow[last][crunner_range(0, \
         may_follow_count[last] - 1)];\n        switch (use) {{\n"
    );
    for (number, case) in cases.iter().enumerate() {
        text += &format!("        case {number}: {{\n");
        for line in &case.lines {
            text += &format!("            {}\n", wrapped(line));
        }
        text += "            break;\n        }\n";
    }
    text += "        }\n        last = use + 1;\n    }\n\n";
    text
}
