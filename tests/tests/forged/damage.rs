//! Damaged honest certificates: each change to the meaning of a necessary part is rejected.

use cegar_checker::certificate::{
    BaseClaim, BytesClaim, Certificate, Condition, CutClaim, KindClaim, KnownClaim, ValueClaim,
};
use cegar_checker::{Assumption, Claim};
use cegar_model::program::Property;
use cegar_model::program::ir::FunctionKind;
use cegar_model::symbolic::world::Grain;

use crate::case::Case;
use crate::programs;

/// The corrected programs, each with its proof.
fn corrected() -> impl Iterator<Item = (&'static str, Case)> {
    programs::sampled(2).map(|p| (p.name, Case::new(p.text, &["-DFIXED"], p.properties)))
}

/// The bug's line is proved in the corrected programs. Otherwise the other tests would show
/// nothing.
#[test]
fn what_is_damaged_was_a_proof() {
    for (name, case) in corrected() {
        let proved = |id: &u32| case.honest.check(*id).is_some();
        let marked = case.marked();
        assert!(!marked.is_empty() && marked.iter().all(proved), "{name}");
    }
}

/// The head of a certificate and its claims.
#[test]
fn heads_and_claims() {
    for (name, case) in corrected() {
        let checks = case.program.checks.len() as u32;
        let blocks = case.program.blocks.len() as u32;
        let library = (0..blocks).find(|&id| {
            let function = case
                .program
                .block(cegar_model::program::BlockId(id))
                .function;
            case.program.function(function).kind == FunctionKind::Stub
        });
        let library = library.unwrap_or_else(|| panic!("{name} has no library"));
        let no = |what: &str, change: &dyn Fn(&mut Certificate)| {
            case.rejects(&format!("{name}: {what}"), change);
        };
        no("the format before", &|c| c.format -= 1);
        no("the format after", &|c| c.format += 1);
        no("other bitcode", &|c| c.bitcode.push('0'));
        no("a check twice", &|c| c.checks.push(c.checks[0]));
        no("no such check", &|c| Case::claim(c, &[checks]));
        no("no such block", &|c| {
            c.blocks.push(Claim {
                id: blocks,
                given: None,
            })
        });
        no("a library's block", &|c| {
            c.blocks.push(Claim {
                id: library,
                given: None,
            })
        });
        no("no such condition", &|c| {
            c.checks[0].given = Some(c.conditions.len() as u32);
        });
        no("a condition on no check", &|c| {
            c.conditions.push(Condition {
                checks: vec![checks],
                elsewhere: false,
            });
        });
        no("a property twice", &|c| c.properties.push(c.properties[0]));
        // The first block of `main` is entered by every execution.
        let entered = case.entry_of_main();
        no("a block that is entered", &|c| {
            c.blocks.push(Claim {
                id: entered,
                given: None,
            })
        });
        no("another grain", &|c| {
            c.grain = match c.grain {
                Grain::Loops => Grain::Blocks,
                Grain::Blocks => Grain::Loops,
            };
        });
        for at in 0..case.honest.assumptions.len() {
            no("an assumption is kept back", &|c| {
                drop(c.assumptions.remove(at))
            });
            no("an assumption says less", &|c| {
                c.assumptions[at].says.truncate(8)
            });
            no("an assumption is lifted otherwise", &|c| {
                c.assumptions[at].lift = Some("--no-assume luck".to_owned());
            });
            if !case.honest.assumptions[at].places.is_empty() {
                no("a place of an assumption is kept back", &|c| {
                    c.assumptions[at].places.pop();
                });
            }
            no("an assumption has another name", &|c| {
                c.assumptions[at].id = "stated".to_owned();
            });
        }
        no("no assumption", &|c| c.assumptions.clear());
        no("an assumption of its own", &|c| {
            c.assumptions.push(Assumption {
                id: "luck".to_owned(),
                ..Assumption::stated("all goes well".to_owned())
            });
        });
        // The user's rules for external functions are reported, but prove nothing.
        case.accepts(&format!("{name}: more is stated"), |c| {
            c.assumptions
                .push(Assumption::stated("the bus answers".to_owned()));
        });
        // A certificate that claims less is still true.
        case.accepts(&format!("{name}: fewer properties"), |c| {
            c.properties.retain(|p| *p != Property::Assertion);
        });
    }
}

/// Descriptions of objects that do not match the program.
#[test]
fn objects() {
    let mut tried = 0;
    for (name, case) in corrected() {
        let honest = &case.honest;
        let no = |at: usize, what: &str, change: &dyn Fn(&mut Certificate)| {
            case.rejects(&format!("{name}: object {at}: {what}"), change);
        };
        for at in 0..honest.objects.len() {
            let object = &honest.objects[at];
            no(at, "twice", &|c| c.objects.push(c.objects[at].clone()));
            no(at, "an empty span", &|c| c.objects[at].indexed.push((4, 4)));
            no(at, "a guessed size", &|c| c.objects[at].guessed = true);
            tried += 3;
            match &object.kind {
                KindClaim::Global(_) => {
                    no(at, "a number", &|c| {
                        c.objects[at].number = Some(0x0200_0009)
                    });
                    no(at, "from the heap", &|c| c.objects[at].heap = true);
                    no(at, "no such global", &|c| {
                        c.objects[at].kind = KindClaim::Global(1 << 20)
                    });
                    tried += 3;
                }
                KindClaim::Made {
                    context,
                    block,
                    op,
                    part,
                } => {
                    let (block, op, part) = (*block, *op, *part);
                    let made = |context: &str, op: u32, part: u32| KindClaim::Made {
                        context: context.to_owned(),
                        block,
                        op,
                        part,
                    };
                    no(at, "the heap's flag", &|c| c.objects[at].heap ^= true);
                    no(at, "made elsewhere", &|c| {
                        c.objects[at].kind = made(context, op + 999, part)
                    });
                    no(at, "another part", &|c| {
                        c.objects[at].kind = made(context, op, part + 1)
                    });
                    for other in ["/0.0", "x", "/", "/+1.1", &format!("{context}/1.1")] {
                        no(at, other, &|c| c.objects[at].kind = made(other, op, part));
                    }
                    match object.number {
                        None => no(at, "a number", &|c| {
                            c.objects[at].number = Some(0x0200_0fff)
                        }),
                        Some(_) => no(at, "no number", &|c| c.objects[at].number = None),
                    }
                    for number in [
                        0,
                        1,
                        0x0001_0000,
                        0x0100_0000,
                        0x0200_0000,
                        0x0300_0000,
                        u32::MAX,
                    ] {
                        no(at, "a number of others", &|c| {
                            c.objects[at].number = Some(number)
                        });
                    }
                    tried += 17;
                }
            }
            if !object.indexed.is_empty() {
                no(at, "not indexed", &|c| c.objects[at].indexed.clear());
                no(at, "indexed elsewhere", &|c| {
                    c.objects[at].indexed = vec![(1 << 20, 1 << 21)]
                });
            }
        }
        let numbered = |(at, o): (usize, &cegar_checker::certificate::ObjectClaim)| {
            o.number.map(|number| (at, number))
        };
        let all: Vec<(usize, u32)> = honest
            .objects
            .iter()
            .enumerate()
            .filter_map(numbered)
            .collect();
        for pair in all.windows(2) {
            let ((_, first), (at, _)) = (pair[0], pair[1]);
            no(at, "another's number", &|c| {
                c.objects[at].number = Some(first)
            });
        }
        no(0, "none at all", &|c| c.objects.clear());
    }
    assert!(tried >= 100, "{tried}");
}

/// Cut points that do not exist, occur twice or are missing.
#[test]
fn cut_points() {
    for (name, case) in corrected() {
        let cuts = case.cuts(&case.honest);
        assert!(!cuts.is_empty(), "{name}");
        let no = |at: usize, what: &str, change: &dyn Fn(&mut CutClaim)| {
            let what = format!("{name}: cut point {at}: {what}");
            case.rejects(&what, |c| change(&mut c.cuts[at]))
        };
        for &at in &cuts {
            let what = format!("{name}: cut point {at}");
            case.rejects(&format!("{what} left out"), |c| drop(c.cuts.remove(at)));
            case.rejects(&format!("{what} twice"), |c| {
                c.cuts.push(c.cuts[at].clone())
            });
            no(at, "of the entry", &|cut| cut.context.clear());
            no(at, "of another call", &|cut| cut.context.push_str("/1.1"));
            no(at, "in other words", &|cut| cut.context.insert(1, '0'));
            no(at, "elsewhere", &|cut| cut.block += 1);
            no(at, "nowhere", &|cut| cut.block = 1 << 30);
            no(at, "no such frame", &|cut| {
                cut.registers.push((99, 0, ValueClaim::Any))
            });
            no(at, "no such register", &|cut| {
                cut.registers.push((0, 9999, ValueClaim::Any))
            });
            no(at, "no such object", &|cut| cut.objects.push((9999, 0)));
            no(at, "nothing known of it", &|cut| {
                cut.objects.push((0, 9999))
            });
            no(at, "never reached", &|cut| {
                cut.facts.push("#1:0".to_owned())
            });
            no(at, "a formula of bytes", &|cut| {
                cut.facts.push("#8:1".to_owned())
            });
            no(at, "no formula", &|cut| cut.facts.push("(and".to_owned()));
            if !case.honest.cuts[at].registers.is_empty() {
                no(at, "a register twice", &|cut| {
                    cut.registers.push(cut.registers[0].clone())
                });
            }
            if !case.honest.cuts[at].objects.is_empty() {
                no(at, "an object twice", &|cut| {
                    cut.objects.push(cut.objects[0])
                });
            }
            for &(object, known) in &case.honest.cuts[at].objects {
                let made = matches!(
                    case.honest.objects[object as usize].kind,
                    KindClaim::Made { .. }
                );
                let lives =
                    case.honest.known[known as usize].alive == ValueClaim::Is("1".to_owned());
                if made && lives {
                    no(at, "an object that lives is left out", &|cut| {
                        cut.objects.retain(|(id, _)| *id != object);
                    });
                }
            }
        }
        for pair in cuts.windows(2) {
            case.rejects(&format!("{name}: two loops' statements swapped"), |c| {
                let (a, b) = (pair[0], pair[1]);
                let (block, context) = (c.cuts[a].block, c.cuts[a].context.clone());
                (c.cuts[a].block, c.cuts[a].context) = (c.cuts[b].block, c.cuts[b].context.clone());
                (c.cuts[b].block, c.cuts[b].context) = (block, context);
            });
        }
        case.rejects(&format!("{name}: no cut points"), |c| c.cuts.clear());
    }
}

/// Values that are malformed for their register, and values other than the real ones.
#[test]
fn values() {
    let mut tried = 0;
    for (name, case) in corrected() {
        for at in case.cuts(&case.honest) {
            let cut = &case.honest.cuts[at];
            for place in 0..cut.registers.len() {
                let (frame, reg, value) = cut.registers[place].clone();
                let (_, function) = case.frame(cut, frame);
                let width = case.program.function(function).registers[reg as usize];
                let is = |new: ValueClaim| {
                    let what = format!("{name}: register {reg} at {at}: {new:?} for {value:?}");
                    case.rejects(&what, |c| c.cuts[at].registers[place].2 = new)
                };
                is(ValueClaim::Is(
                    "1ffffffffffffffffffffffffffffffff".to_owned(),
                ));
                is(ValueClaim::Is(String::new()));
                is(ValueClaim::Is("-1".to_owned()));
                is(ValueClaim::Within(9, 3));
                is(ValueClaim::Points(Vec::new(), None));
                is(ValueClaim::Points(vec![BaseClaim::Object(9999)], None));
                is(ValueClaim::Points(vec![BaseClaim::Number(3); 2], None));
                // No register here ever has this value.
                is(ValueClaim::Is("5a".to_owned()));
                if width < 64 {
                    is(ValueClaim::Within(0, u64::MAX));
                    is(ValueClaim::Points(vec![BaseClaim::Number(0)], None));
                    is(ValueClaim::Is(format!("{:x}", 1u128 << width)));
                }
                tried += 9;
                match &value {
                    ValueClaim::Within(low, high) if low < high => {
                        is(ValueClaim::Within(*high, *high));
                    }
                    ValueClaim::Points(bases, offset) => {
                        is(ValueClaim::Points(
                            vec![BaseClaim::Number(0x0001_ffff)],
                            *offset,
                        ));
                        is(ValueClaim::Points(
                            bases.clone(),
                            Some(offset.unwrap_or(0) + 77),
                        ));
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(tried >= 100, "{tried}");
}

/// States of objects at a loop that are wrong or malformed.
#[test]
fn what_is_known_of_objects() {
    let mut tried = 0;
    for (name, case) in corrected() {
        for at in case.cuts(&case.honest) {
            for &(object, known) in &case.honest.cuts[at].objects {
                let object = object as usize;
                let before = &case.honest.known[known as usize];
                let is = |what: &str, change: &dyn Fn(&mut KnownClaim)| {
                    let what = format!("{name}: object {object} at {at}: {what} of {before:?}");
                    case.rejects(&what, |c| Case::know(c, at, object, change));
                };
                is("half alive", &|known| {
                    known.alive = ValueClaim::Is("2".to_owned())
                });
                is("alive between", &|known| {
                    known.alive = ValueClaim::Within(0, 1)
                });
                is("a size that points", &|known| {
                    known.size = ValueClaim::Points(vec![BaseClaim::Number(0)], None);
                });
                tried += 3;
                if let ValueClaim::Is(alive) = &before.alive {
                    let other = if alive == "1" { "0" } else { "1" };
                    is("the other life", &|known| {
                        known.alive = ValueClaim::Is(other.to_owned())
                    });
                    is("a longer one", &|known| {
                        known.size = ValueClaim::Is("fff".to_owned())
                    });
                    tried += 2;
                }
                match &before.bytes {
                    BytesClaim::Fixed { runs, .. } => {
                        is("half a byte", &|known| fixed(known, (0, "0".to_owned())));
                        is("no digits", &|known| fixed(known, (0, "zz".to_owned())));
                        is("behind all memory", &|known| {
                            fixed(known, (u32::MAX, "0000".to_owned()))
                        });
                        let first = runs.first().map_or(0, |(at, _)| *at);
                        is("other bytes", &|known| {
                            fixed(known, (first, "a5a5".to_owned()))
                        });
                        tried += 4;
                    }
                    BytesClaim::Cells(_) | BytesClaim::Mixed(_) => {
                        is("cells that overlap", &|known| {
                            cells(known, |all| {
                                all.insert(0, (0, 64, ValueClaim::Any));
                                all.insert(0, (4, 32, ValueClaim::Any));
                            });
                        });
                        is("half a byte", &|known| {
                            cells(known, |all| all.push((1 << 20, 4, ValueClaim::Any)));
                        });
                        is("a wide cell", &|known| {
                            cells(known, |all| all.push((1 << 20, 128, ValueClaim::Any)));
                        });
                        tried += 3;
                    }
                }
                if let BytesClaim::Cells(all) = &before.bytes {
                    is("a hole between cells", &|known| {
                        cells(known, |all| drop(all.remove(0)))
                    });
                    is("an end without cells", &|known| {
                        cells(known, |all| drop(all.pop()))
                    });
                    for place in 0..all.len() {
                        is("another number", &|known| {
                            cells(known, |all| all[place].2 = ValueClaim::Is("5a".to_owned()));
                        });
                    }
                }
            }
        }
    }
    assert!(tried >= 100, "{tried}");
}

fn fixed(known: &mut KnownClaim, run: (u32, String)) {
    if let BytesClaim::Fixed { runs, .. } = &mut known.bytes {
        runs.push(run);
    }
}

fn cells(known: &mut KnownClaim, change: impl Fn(&mut Vec<(u32, u16, ValueClaim)>)) {
    if let BytesClaim::Cells(all) | BytesClaim::Mixed(all) = &mut known.bytes {
        change(all);
    }
}
