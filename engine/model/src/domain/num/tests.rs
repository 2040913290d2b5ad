//! Tests sets of numbers against concrete numbers.

use proptest::prelude::*;

use super::{Num, decided, refined};
use crate::program::ir::{BinOp, CastKind, UnOp, Width};
use crate::term::random::{OPS, PREDS};
use crate::term::value;

/// Numbers, with the corner cases of a width more often than chance would have them.
fn number(width: Width) -> impl Strategy<Value = u128> {
    let ones = value::mask(width);
    prop_oneof![
        3 => any::<u64>().prop_map(move |n| u128::from(n) & ones),
        3 => (0u128..20).prop_map(move |n| n & ones),
        2 => (0u128..20).prop_map(move |n| 0u128.wrapping_sub(n) & ones),
        2 => (0u128..6).prop_map(move |n| (ones / 2).wrapping_add(n) & ones),
    ]
}

/// A set made from some numbers, and one of these numbers.
fn set(width: Width) -> impl Strategy<Value = (Num, u128)> {
    let step = prop_oneof![Just(1u128), 1u128..40];
    (
        prop::collection::vec(number(width), 1..4),
        step,
        any::<prop::sample::Index>(),
        any::<bool>(),
    )
        .prop_map(move |(mut numbers, step, at, walks)| {
            if walks {
                let first = numbers[0];
                numbers = (0..4)
                    .map(|i| (first + i * step) & value::mask(width))
                    .collect();
            }
            let all = numbers.iter().map(|&n| Num::exactly(width, n));
            let set = all
                .reduce(|a, b| a.join(width, &b))
                .unwrap_or(Num::all(width));
            let set = set.reduced(width).expect("it has numbers");
            (set, *at.get(&numbers))
        })
}

fn width() -> impl Strategy<Value = Width> {
    prop_oneof![Just(1), Just(3), Just(8), Just(16), Just(32), Just(64)]
}

fn two() -> impl Strategy<Value = (Width, (Num, u128), (Num, u128))> {
    width().prop_flat_map(|w| (Just(w), set(w), set(w)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn results_are_in_the_set((w, (a, x), (b, y)) in two()) {
        prop_assert!(a.has(w, x) && b.has(w, y), "{a:?} {x}");
        for op in OPS {
            let divides = matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem);
            let shifts = matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr);
            let least = value::mask(w);
            if divides && (y == 0 || y == least && value::signed(w, x) == value::signed_min(w)) || shifts && y >= w.into() {
                continue;
            }
            let result = value::bin(op, w, x, y);
            let set = a.bin(op, w, &b);
            prop_assert!(set.has(w, result), "{op:?} {w}: {x} {y} = {result} of {a:?} {b:?} not in \
                {set:?}");
            let mut set = None;
            for signed in [false, true] {
                if matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul) && !value::overflow(op, signed, w, x, y) {
                    set = a.without_overflow(op, signed, w, &b);
                    prop_assert!(set.is_some_and(|s| s.has(w, result)), "{op:?} {w} {signed}: {x} \
                        {y} {set:?}");
                }
            }
            let _ = set;
        }
    }

    #[test]
    fn conversions((w, (a, x), _) in two(), to in width()) {
        for kind in [CastKind::Trunc, CastKind::ZExt, CastKind::SExt] {
            let fits = if kind == CastKind::Trunc { to <= w } else { to >= w };
            if fits {
                let result = value::cast(kind, w, to, x);
                let set = a.cast(kind, w, to);
                prop_assert!(set.has(to, result), "{kind:?} {w} {to}: {x} = {result} of {a:?} not \
                    in {set:?}");
            }
        }
        for op in [UnOp::CtPop, UnOp::CtLz, UnOp::CtTz, UnOp::BitReverse, UnOp::Abs] {
            // `BSwap` is not among them: a width of three bits has no whole bytes.
            let result = value::un(op, w, x);
            prop_assert!(a.un(op, w, false).has(w, result), "{op:?} {w} {x}");
        }
    }

    #[test]
    fn comparisons((w, (a, x), (b, y)) in two()) {
        for pred in PREDS {
            let holds = value::cmp(pred, w, x, y);
            if let Some(said) = decided(pred, w, &a, &b) {
                prop_assert_eq!(said, holds, "{:?} {} {} {:?} {:?}", pred, x, y, a, b);
            }
            if holds {
                let left = refined(pred, w, &a, &b);
                prop_assert!(left.is_some_and(|l| l.has(w, x)), "{pred:?} {x} {y} {a:?} {b:?} \
                    {left:?}");
            }
        }
    }

    #[test]
    fn joins_meets_and_widening((w, (a, x), (b, y)) in two()) {
        let join = a.join(w, &b);
        prop_assert!(join.has(w, x) && join.has(w, y));
        prop_assert!(a.is_within(&join) && b.is_within(&join));
        let wide = a.widen(w, &b, &[-4, 0, 10, 300]);
        prop_assert!(wide.has(w, x) && wide.has(w, y), "{a:?} {b:?} {wide:?}");
        if a.has(w, y) && b.has(w, y) {
            prop_assert!(a.meet(w, &b).is_some_and(|m| m.has(w, y)));
        }
        if a.is_within(&b) {
            prop_assert!(b.has(w, x));
        }
    }
}
