//! Damaged floors: the checker walks the states of the whole program again and trusts none of them.

use cegar_checker::Certificate;
use cegar_checker::floor::{FloorClaim, StateClaim};
use cegar_model::domain::linear::Product;
use cegar_model::domain::num::Num;
use cegar_model::domain::owners::{Owners, Row};

use crate::case::Case;
use crate::mutate::{Chance, mutate};
use crate::programs::{self, Buggy};

/// The number of damaged floors per program.
const MUTANTS: usize = 60;

/// Asserts that a change of the states at all loop heads is rejected if the certificate has no
/// other facts.
#[track_caller]
fn rejects_states(case: &Case, what: &str, act: &dyn Fn(&mut StateClaim)) {
    case.rejects(what, |certificate| {
        certificate.cuts.clear();
        let floors = certificate.floor.iter_mut();
        for head in floors.flat_map(|floor| &mut floor.heads) {
            act(&mut head.state);
        }
    });
}

fn floor(certificate: &Certificate) -> &FloorClaim {
    certificate
        .floor
        .as_ref()
        .unwrap_or_else(|| panic!("there is a floor"))
}

/// No damage proves a bug: neither damage to the program's own floor nor to the floor of the
/// corrected program.
#[test]
fn no_damaged_floor_proves_a_bug() {
    let mut chance = Chance(0xf100);
    let (mut read, mut all, mut floors) = (0, 0, 0);
    for buggy in programs::sampled(0).chain([&programs::ON_FLOOR, &NODES]) {
        let fixed = Case::on_floor(buggy.text, &["-DFIXED"], buggy.properties);
        let case = Case::on_floor(buggy.text, &[], buggy.properties);
        floors += usize::from(case.honest.floor.is_some());
        let bug = case.bug(&[(buggy.tape)()]);
        for number in 0..MUTANTS {
            let from = [&case.honest, &fixed.honest][number % 2];
            let mut forged = from.clone();
            // Facts at cut points are the subject of other tests.
            forged.cuts.clear();
            Case::claim(&mut forged, &[bug]);
            let mut tree = serde_json::to_value(&forged).unwrap_or_else(|why| panic!("{why}"));
            let Some(floor) = tree.get_mut("floor") else {
                continue;
            };
            for _ in 0..=chance.below(3) {
                mutate(floor, &mut chance);
            }
            all += 1;
            let Ok(mutant) = serde_json::from_value::<Certificate>(tree) else {
                continue;
            };
            read += 1;
            assert!(
                case.check(&mutant).is_err(),
                "{}: mutant {number} is accepted: {}",
                buggy.name,
                serde_json::to_string(&mutant.floor).unwrap_or_default()
            );
        }
    }
    let part = programs::part();
    assert!(
        floors > 5 / part && all >= 300 / part && read >= 150 / part,
        "{read} of {all}, {floors}"
    );
}

/// A list that is released node by node; the faulty variant releases one node twice.
const NODES: Buggy = Buggy {
    name: "nodes",
    text: r#"
#include <stdlib.h>
unsigned char __VERIFIER_nondet_uchar(void);
struct node { struct node *next; };
int main(void)
{
    struct node *head = 0;
    while (__VERIFIER_nondet_uchar()) {
        struct node *node = malloc(sizeof *node);
        if (!node) return 1;
        node->next = head;
        head = node;
    }
    struct node *second = head ? head->next : 0;
    while (head) {
        struct node *next = head->next; /* BUG */
        free(head);
#ifndef FIXED
        free(second);
        second = 0;
#endif
        head = next;
    }
    return second != 0;
}
"#,
    properties: crate::case::MEMORY,
    tape: || vec![1, 1, 0],
};

/// Owners are part of the state: the floor proves the corrected program, but not without owners.
#[test]
fn without_owners_no_list_is_released() {
    let case = Case::on_floor(NODES.text, &["-DFIXED"], NODES.properties);
    assert!(case.check(&case.honest).is_ok());
    let mut without = case.honest.clone();
    let floor = without.floor.as_mut().expect("there is a floor");
    let mut owners = 0;
    for head in &mut floor.heads {
        owners += head.state.owners.fields.len();
        head.state.owners = Owners::default();
    }
    assert!(owners > 0);
    assert!(case.check(&without).is_err());
}

/// An array whose elements own blocks.
const SLOTS: &str = r#"
#include <stdlib.h>
unsigned char __VERIFIER_nondet_uchar(void);
static int *slots[8];
int main(void)
{
    for (int i = 0; i < 20; i++) {
        unsigned at = __VERIFIER_nondet_uchar() & 7;
        free(slots[at]);
        slots[at] = 0;
        if (__VERIFIER_nondet_uchar()) slots[at] = malloc(sizeof **slots);
    }
    for (int i = 0; i < 8; i++) free(slots[i]);
    return 0;
}
"#;

/// Rows of owning elements are part of the state: without them, or with rows of more elements than
/// own a block, nothing is proved.
#[test]
fn rows_of_elements_are_walked() {
    let case = Case::on_floor(SLOTS, &[], crate::case::MEMORY);
    assert!(case.check(&case.honest).is_ok());
    let mut heads = floor(&case.honest).heads.iter();
    assert!(heads.any(|head| !head.state.owners.rows.is_empty()));
    let change = |what: &str, act: &dyn Fn(&mut Row)| {
        rejects_states(&case, what, &|state| {
            state.owners.rows.iter_mut().for_each(act)
        });
    };
    rejects_states(&case, "no rows", &|state| state.owners.rows.clear());
    change("all elements", &|row| row.from = Num::exactly(64, 0));
    change("no elements", &|row| row.to = Num::exactly(64, 0));
    change("elements of no distance", &|row| row.stride = 0);
    change("every second element", &|row| row.stride = 16);
    change("elements between elements", &|row| row.start = 4);
}

/// A matrix that is written row by row.
const MATRIX: &str = r#"
#include <stdlib.h>
unsigned char __VERIFIER_nondet_uchar(void);
int main(void)
{
    size_t rows = __VERIFIER_nondet_uchar(), cols = __VERIFIER_nondet_uchar();
    if (rows == 0 || cols == 0) return 0;
    char *at = calloc(rows, cols);
    if (!at) return 1;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) at[i * cols + j] = 1;
    free(at);
    return 0;
}
"#;

/// Products are part of the state: without them nothing follows, and wrong ones are rejected.
#[test]
fn products_are_walked() {
    let case = Case::on_floor(MATRIX, &[], crate::case::MEMORY);
    assert!(case.check(&case.honest).is_ok());
    let heads = floor(&case.honest).heads.iter();
    let products: usize = heads.map(|head| head.state.products.len()).sum();
    assert!(products > 0, "there are products");
    let change = |what: &str, act: &dyn Fn(&mut Vec<Product>)| {
        rejects_states(&case, what, &|state| act(&mut state.products));
    };
    change("no products", &Vec::clear);
    for times in [0, -1, 2] {
        change("so many times the product", &|products| {
            for product in products {
                let mut written = serde_json::to_value(&*product).expect("it is written");
                written[1] = times.into();
                *product = serde_json::from_value(written).expect("it is read");
            }
        });
    }
}

/// A loop whose accesses are valid only because of its bound.
const LOOP: &str = "
int getchar(void);
int table[10];
int main(void) {
    int n = getchar();
    if (n < 0 || n > 10) return 0;
    int i = 0;
    while (i < n) { table[i] = i; i++; }
    return table[5];
}
";

/// The states of a loop are needed: nothing follows if they state less or more.
#[test]
fn what_is_stated_of_a_loop_is_walked() {
    let case = Case::on_floor(LOOP, &[], crate::case::MEMORY);
    let main = case.entry_of_main();
    let heads: Vec<usize> = {
        let all = floor(&case.honest).heads.iter().enumerate();
        all.filter(|(_, head)| head.block > main && head.block < main + 12)
            .map(|(at, _)| at)
            .collect()
    };
    assert!(!heads.is_empty(), "the loop has a state");
    let change = |what: &str, act: &dyn Fn(&mut FloorClaim, usize)| {
        for &at in &heads {
            case.rejects(what, |certificate| {
                certificate.cuts.clear();
                if let Some(floor) = &mut certificate.floor {
                    act(floor, at);
                }
            });
        }
    };
    change("a loop without a state", &|floor, at| {
        drop(floor.heads.remove(at))
    });
    change("a register that is always 0", &|floor, at| {
        for (_, value) in &mut floor.heads[at].state.registers {
            if value.num.is_some() {
                value.num = Some(Num::exactly(32, 0));
            }
        }
    });
    change("a loop that nobody knows anything of", &|floor, at| {
        floor.heads[at].state.registers.clear();
    });
    change("no number at all", &|floor, at| {
        for (_, value) in &mut floor.heads[at].state.registers {
            value.num = None;
        }
    });
    change("contents that do not exist", &|floor, _| {
        floor.contents.clear()
    });
    change("a context that is none", &|floor, _| {
        floor.contexts[0].function += 1
    });
}
