//! Forged summaries of functions that are encoded alone.
//!
//! A summary is assumed at every call, so a false summary proves anything behind a call. Each test
//! states a summary that does not hold, or gives a summary to a function that must not have one.

use cegar_checker::certificate::{Certificate, CutClaim, ValueClaim};
use cegar_model::program::FuncId;
use cegar_model::symbolic::world::Grain;

use crate::case::{ASSERTION, Case};
use crate::programs::words;

/// The sum of the numbers up to `n`. It is at least `n`, and greater from `n = 2` on.
const SUM: &str = r#"
#include <assert.h>
int __VERIFIER_nondet_int(void);
static int sum(int n)
{
    if (n <= 0)
        return 0;
    int rest = sum(n - 1);
    return n % 2 == 0 ? n + rest : rest + n;
}
int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 1000)
        return 0;
    int all = sum(n);
#ifdef FIXED
    assert(all >= n); /* BUG */
#else
    assert(all > n); /* BUG */
#endif
    return 0;
}
"#;

/// Two recursive functions that access memory other than their own variables: a global, and the
/// target of a pointer.
const COUNTED: &str = r#"
#include <assert.h>
int __VERIFIER_nondet_int(void);
int calls;
static int counts(int n)
{
    calls++;
    if (n <= 0)
        return 0;
    int rest = counts(n - 1);
    return n % 2 == 0 ? n + rest : rest + n;
}
static int through(int *left, int n)
{
    if (n <= 0)
        return *left;
    *left += n;
    int rest = through(left, n - 1);
    return n % 2 == 0 ? n + rest : rest + n;
}
int main(void)
{
    int n = __VERIFIER_nondet_int(), left = 0;
    if (n < 0 || n > 3)
        return 0;
    counts(n);
    assert(calls == 1); /* BUG */
    through(&left, n);
    assert(left == 0);
    return 0;
}
"#;

/// A function that does not return for odd numbers.
const NEVER: &str = r#"
#include <assert.h>
int __VERIFIER_nondet_int(void);
static int even(int n)
{
    if (n == 0)
        return 0;
    if (n == 1)
        for (;;)
            ;
    int rest = even(n - 2);
    assert(n < 90); /* BUG */
    return rest ? rest : n - n;
}
int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 100)
        return 0;
    even(n);
    return 0;
}
"#;

fn number(case: &Case, name: &str) -> u32 {
    let id = case.program.function_named(name);
    let FuncId(id) = id.unwrap_or_else(|| panic!("there is no {name}"));
    id
}

/// The indices of the cut points at which a function begins and ends.
fn ends(case: &Case, name: &str) -> (usize, usize) {
    let id = number(case, name);
    let at = |context: String| {
        let is_it = |cut: &CutClaim| cut.context == context;
        let at = case.honest.cuts.iter().position(is_it);
        at.unwrap_or_else(|| panic!("nothing is stated of {context}"))
    };
    (at(format!("f{id}")), at(format!("f{id}.end")))
}

/// The names of a function's parameter and result in formulas.
fn spoken(case: &Case, name: &str) -> (String, String) {
    let id = number(case, name);
    let function = case.program.function(FuncId(id));
    let result = function.registers.len();
    (format!("|rf{id}:0|:32"), format!("|rf{id}:{result}|:32"))
}

#[test]
fn summaries_that_do_not_hold() {
    let (fixed, case) = Case::pair(SUM, ASSERTION);
    let bug = case.bug(&[words(&[1])]);
    assert!(
        fixed
            .marked()
            .iter()
            .any(|id| fixed.honest.check(*id).is_some())
    );
    let (begin, end) = ends(&case, "sum");
    let (n, all) = spoken(&case, "sum");
    let no = |what: &str, change: &dyn Fn(&mut Certificate)| {
        case.rejects(what, |certificate| {
            change(certificate);
            Case::claim(certificate, &[bug]);
        })
    };
    no("the claim alone", &|_| ());
    no("all of the other proof", &|c| *c = fixed.honest.clone());
    for fact in [
        "#1:0".to_owned(),
        format!("(sgt {all} {n})"),
        format!("(slt {n} {all})"),
        format!("(= {all} #32:7)"),
        format!("(not (= {all} {n}))"),
    ] {
        let why = no(&fact, &|c| c.cuts[end].facts.push(fact.clone()));
        assert!(!why.is_empty());
    }
    no("never called", &|c| {
        c.cuts[begin].facts.push("#1:0".to_owned())
    });
    no("called with more", &|c| {
        c.cuts[begin].facts.push(format!("(slt #32:1 {n})"));
    });
    no("one result", &|c| {
        for (_, _, value) in &mut c.cuts[end].registers {
            *value = ValueClaim::Is("7".to_owned());
        }
    });
    no("one parameter", &|c| {
        for (_, _, value) in &mut c.cuts[begin].registers {
            *value = ValueClaim::Is("7".to_owned());
        }
    });
    no("never returns", &|c| drop(c.cuts.remove(end)));
    no("never begins", &|c| drop(c.cuts.remove(begin)));
    no("neither", &|c| {
        let context = c.cuts[begin].context.clone();
        c.cuts.retain(|cut| !cut.context.starts_with(&context));
    });
}

/// Variables that do not belong to a summary: those of the caller, inner ones of the function, and
/// unknown ones.
#[test]
fn formulas_over_what_a_summary_does_not_speak_of() {
    let case = Case::new(SUM, &[], ASSERTION);
    let bug = case.bug(&[words(&[1])]);
    let (begin, end) = ends(&case, "sum");
    let (_, all) = spoken(&case, "sum");
    let id = number(&case, "sum");
    let function = case.program.function(FuncId(id));
    let mut foreign: Vec<String> = (function.params.len()..function.registers.len())
        .map(|reg| format!("|rf{id}:{reg}|"))
        .collect();
    foreign.extend((0..4).map(|reg| format!("|r:{reg}|")));
    foreign.extend((1..8).map(|n| format!("|?.{n}|")));
    foreign.extend((1..8).map(|n| format!("|?f{id}:{}.{n}|", function.blocks.start)));
    foreign.push(format!("|rf{id}.end:0|"));
    for name in foreign {
        for at in [begin, end] {
            for fact in [
                format!("(slt #32:1 {name}:32)"),
                format!("(= {all} {name}:32)"),
            ] {
                case.rejects(&fact, |c| {
                    c.cuts[at].facts.push(fact.clone());
                    Case::claim(c, &[bug]);
                });
            }
        }
    }
}

#[test]
fn functions_that_have_no_summary() {
    let case = Case::new(SUM, &["-DFIXED"], ASSERTION);
    let functions = case.program.functions.len() as u32;
    let sum = number(&case, "sum");
    let why = case.rejects("no such function", |c| c.alone.push(functions));
    assert!(why.contains("has no function"), "{why}");
    let why = case.rejects("twice", |c| c.alone.push(sum));
    assert!(why.contains("twice"), "{why}");
    case.rejects("not encoded alone", |c| c.alone.clear());
    case.rejects("another grain", |c| c.grain = Grain::Blocks);
    for function in 0..functions {
        let is_user = number(&case, "cegar_user_main") == function || function == sum;
        if !is_user {
            case.rejects("a function of the library", |c| c.alone.push(function));
        }
    }

    let case = Case::new(COUNTED, &[], ASSERTION);
    let bug = case.bug(&[words(&[2])]);
    assert!(case.honest.alone.is_empty(), "{:?}", case.honest.alone);
    for name in ["counts", "through"] {
        let why = case.rejects(name, |c| {
            c.alone.push(number(&case, name));
            Case::claim(c, &[bug]);
        });
        assert!(why.contains("not sealed"), "{why}");
    }
}

/// The code after a call that does not return is not reached; the call itself is.
#[test]
fn a_function_that_need_not_return() {
    let case = Case::new(NEVER, &[], ASSERTION);
    let bug = case.bug(&[words(&[92])]);
    let (begin, end) = ends(&case, "even");
    let (n, all) = spoken(&case, "even");
    case.rejects("it never returns", |c| {
        c.cuts[end].facts.push("#1:0".to_owned());
        Case::claim(c, &[bug]);
    });
    case.rejects("it returns for small ones", |c| {
        c.cuts[end].facts.push(format!("(slt {n} #32:5a)"));
        Case::claim(c, &[bug]);
    });
    case.rejects("it is called with small ones", |c| {
        c.cuts[begin].facts.push(format!("(slt {n} #32:5a)"));
        Case::claim(c, &[bug]);
    });
    // It is true that the function does not return for odd numbers.
    case.accepts("it returns zero and for even numbers", |c| {
        c.cuts[end].facts.push(format!("(= {all} #32:0)"));
    });
}
