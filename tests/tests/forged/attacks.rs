//! Attacks that forge a proof for a real bug.

use cegar_checker::certificate::{BytesClaim, CutClaim, ValueClaim};
use cegar_checker::{Certificate, Claim, Condition};
use cegar_model::program::CheckKind;

use crate::case::{ALL, ASSERTION, Case, MEMORY, object_key};
use crate::programs::{self, words};

fn unknowns(cut: &CutClaim) -> Vec<String> {
    let mut names: Vec<String> = (1..=8)
        .map(|n| format!("?{}:{}.{n}", cut.context, cut.block))
        .collect();
    for n in [1, 2, 3, 4, 7] {
        names.extend([
            format!("?after.{n}"),
            format!("?ghost.{n}"),
            format!("?.{n}"),
        ]);
    }
    names.push("?element".to_owned());
    names
}

/// A fact that equates the last value read with an unknown of the fragment, the next value read,
/// would be preserved by every transition.
#[test]
fn formulas_over_what_a_fragment_does_not_know() {
    let case = Case::new(programs::HASH, &[], ASSERTION);
    let bug = case.bug(&[words(&[5, 7])]);
    let mut tried = 0;
    for at in case.cuts(&case.honest) {
        let cut = &case.honest.cuts[at];
        for (variable, width) in case.variables(&case.honest, cut) {
            for unknown in unknowns(cut) {
                let unknown = format!("|{unknown}|:{width}");
                case.rejects(&unknown, |certificate| {
                    let facts = &mut certificate.cuts[at].facts;
                    facts.push(format!("(= {variable} {unknown})"));
                    Case::claim(certificate, &[bug]);
                });
                tried += 1;
            }
        }
    }
    assert!(tried >= 40, "{tried}");
}

/// A local object dies at the end of its scope, even if the certificate hides which object the end
/// marker refers to.
#[test]
fn an_end_that_is_hidden() {
    let case = Case::new(programs::SCOPE, &[], MEMORY);
    let bug = case.bug(&[vec![0; 8]]);
    let cuts = case.cuts(&case.honest);
    let [first, second] = cuts[..] else {
        panic!("{cuts:?}")
    };
    let object = case.honest.objects.iter().position(|o| o.number.is_some());
    let object = object.unwrap_or_else(|| panic!("no local object"));
    let number = case.honest.objects[object].number.unwrap_or_default();
    let address = format!("{:x}", u64::from(number) << 32);
    let pointer = case.global("p");
    let why = case.rejects("a hidden end", |certificate| {
        Case::claim(certificate, &[bug]);
        for (at, value) in [
            (first, ValueClaim::Any),
            (second, ValueClaim::Is(address.clone())),
        ] {
            let cell = BytesClaim::Cells(vec![(0, 64, value)]);
            Case::know(certificate, at, pointer, |known| known.bytes = cell);
            Case::know(certificate, at, object, |known| {
                known.alive = ValueClaim::Is("1".to_owned());
            });
        }
        certificate.cuts[second].facts.clear();
        let cut = &mut certificate.cuts[first];
        cut.facts
            .retain(|fact| !fact.contains("64^|") && !fact.contains("|l"));
        let mut facts = Vec::new();
        for (frame, reg, value) in &mut cut.registers {
            let name = format!(
                "|r{}:{reg}|",
                case.frame(&case.honest.cuts[first], *frame).0
            );
            if *value == ValueClaim::Is(address.clone()) {
                facts.push(format!("(= {name}:64 #64:{address})"));
                *value = ValueClaim::Any;
            } else {
                let key = object_key(&certificate.objects[pointer]);
                facts.push(format!(
                    "(or (= {name}:32 #32:0) (= |m{key}:0:64|:64 #64:{address}))"
                ));
            }
        }
        cut.facts.extend(facts);
    });
    assert!(why.contains("does not preserve"), "{why}");
}

/// The number of an object is arbitrary; nothing may be proved from it.
#[test]
fn numbers_of_objects() {
    for (text, hide) in [(programs::NUMBER, false), (programs::NUMBER, true)] {
        let case = Case::new(text, &[], ASSERTION);
        let marked = case.marked();
        for number in [0x0200_0002, 0x0200_0003] {
            let why = case.rejects("a number", |certificate| {
                Case::claim(certificate, &marked);
                let mut old = 0;
                for object in &mut certificate.objects {
                    if let Some(before) = object
                        .number
                        .replace(number)
                        .filter(|_| object.number.is_some())
                    {
                        old = before;
                    } else {
                        object.number = None;
                    }
                }
                let (old, new) = (
                    format!("{:x}", u64::from(old) << 32),
                    format!("{:x}", u64::from(number) << 32),
                );
                for cut in &mut certificate.cuts {
                    for (frame, reg, value) in &mut cut.registers {
                        if *value == ValueClaim::Is(old.clone()) {
                            *value = ValueClaim::Is(new.clone());
                            if hide {
                                let key = case.frame(&case.honest.cuts[0], *frame).0;
                                cut.facts.push(format!("(= |r{key}:{reg}|:64 #64:{new})"));
                                *value = ValueClaim::Any;
                            }
                        }
                    }
                }
            });
            assert!(why.contains("does not"), "{why}");
        }
    }
}

/// A pointer that is computed from NULL is not NULL.
#[test]
fn an_offset_from_null() {
    let text = r#"
#include <assert.h>
int __VERIFIER_nondet_int(void);
struct pair { int a, b; } g;
int main(void)
{
    struct pair *p = &g;
    for (int i = 0; i < 3; i++)
        p = __VERIFIER_nondet_int() ? &g : 0;
    int *q = &p->b;
    if (p == 0) assert(q == 0); /* BUG */
    return 0;
}
"#;
    let case = Case::new(text, &[], ASSERTION);
    case.bug(&[words(&[1, 1, 0])]);
}

/// A claim that rests on the absence of an earlier overflow must state that condition.
#[test]
fn conditions() {
    let case = Case::new(programs::OVERFLOW, &[], ALL);
    let claims = &case.honest.checks;
    let given: Vec<usize> = (0..claims.len())
        .filter(|&at| claims[at].given.is_some())
        .collect();
    assert!(
        !given.is_empty(),
        "nothing rests on the sum, which may overflow"
    );
    for at in given {
        case.rejects("no condition", |c| c.checks[at].given = None);
        case.rejects("an empty one", |c| {
            c.checks[at].given = Some(c.conditions.len() as u32);
            c.conditions.push(Condition::default());
        });
        case.rejects("another one", |c| {
            let own = c.checks[at].id;
            c.checks[at].given = Some(c.conditions.len() as u32);
            c.conditions.push(Condition {
                checks: vec![own],
                elsewhere: true,
            });
        });
    }
    case.rejects("all of them empty", |c| {
        for condition in &mut c.conditions {
            *condition = Condition::default();
        }
    });
    // An additional condition weakens the claim.
    case.accepts("more conditions", |c| {
        for condition in &mut c.conditions {
            condition.elsewhere = true;
        }
    });
    let overflow = case.program.checks.iter().position(|check| {
        check.kind == CheckKind::SignedOverflow && case.honest.check(0).is_none()
    });
    let overflow = overflow.unwrap_or_default() as u32;
    case.rejects("the overflow itself", |c| {
        Case::claim(c, &[overflow]);
    });
    case.rejects("the overflow, if it does not", |c| {
        let given = Some(c.conditions.len() as u32);
        c.checks.push(Claim {
            id: overflow,
            given,
        });
        c.conditions.push(Condition {
            checks: vec![overflow],
            elsewhere: true,
        });
    });
}

/// A bug is proved neither by the proof of the corrected program nor by facts that are too strong.
#[test]
fn facts_of_another_program() {
    let mut tried = 0;
    for buggy in programs::sampled(1) {
        let (fixed, case) = Case::pair(buggy.text, buggy.properties);
        let bug = case.bug(&[(buggy.tape)()]);
        let name = buggy.name;
        let no = |what: &str, change: &dyn Fn(&mut Certificate)| {
            case.rejects(&format!("{name}: {what}"), |certificate| {
                change(certificate);
                Case::claim(certificate, &[bug]);
            });
        };
        no("the claim alone", &|_| ());
        no("if something else holds", &|c| {
            let given = Some(c.conditions.len() as u32);
            c.conditions.push(Condition {
                checks: (0..case.program.checks.len() as u32)
                    .filter(|id| *id != bug)
                    .collect(),
                elsewhere: true,
            });
            c.checks.push(Claim { id: bug, given });
        });
        no("all of the other proof", &|c| *c = fixed.honest.clone());
        no("the other's cut points", &|c| {
            c.cuts = fixed.honest.cuts.clone()
        });
        no("the other's formulas", &|c| {
            for cut in &mut c.cuts {
                let is_it =
                    |other: &&CutClaim| (&other.context, other.block) == (&cut.context, cut.block);
                if let Some(other) = fixed.honest.cuts.iter().find(is_it) {
                    cut.facts.extend(other.facts.clone());
                }
            }
        });
        tried += 5;
        for at in case.cuts(&case.honest) {
            no("never reached", &|c| {
                c.cuts[at].facts.push("#1:0".to_owned())
            });
            no("only at first", &|c| {
                let cut = &c.cuts[at];
                let variables = case.variables(&case.honest, cut);
                let zero = variables
                    .iter()
                    .map(|(name, width)| format!("(= {name} #{width}:0)"));
                let zero: Vec<String> = zero.collect();
                c.cuts[at].facts = zero;
            });
            tried += 2;
        }
    }
    assert!(tried >= 80 / programs::part(), "{tried}");
}
