//! Compares the conditions on numbers with those on terms, and both with their specification.

use proptest::prelude::*;

use super::*;

const OPS: [BinOp; 8] = [
    BinOp::UDiv,
    BinOp::SDiv,
    BinOp::URem,
    BinOp::SRem,
    BinOp::Shl,
    BinOp::LShr,
    BinOp::AShr,
    BinOp::Add,
];

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..20u64,
        (0..20u64).prop_map(u64::wrapping_neg),
        any::<u64>()
    ]
}

/// Terms with these values. The bits of `known` say which of them are constants.
fn terms(pool: &mut Pool, values: &[u64], known: u8) -> Vec<Term> {
    let mut at = 0;
    let mut all = Vec::new();
    for (i, &value) in values.iter().enumerate() {
        let mut bytes = (0..8)
            .map(|k| pool.input(at + k))
            .collect::<Vec<_>>()
            .into_iter()
            .rev();
        at += 8;
        let first = bytes.next().unwrap_or_else(|| unreachable!("eight bytes"));
        let free = bytes.fold(first, |high, low| pool.concat(high, low));
        all.push(match known >> i & 1 {
            1 => pool.constant(64, u128::from(value)),
            _ => free,
        });
    }
    all
}

fn evaluated(pool: &Pool, t: Term, values: &[u64]) -> bool {
    let tape: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    pool.eval(t, &|i| tape[i as usize]) == 1
}

proptest! {
    #[test]
    fn accesses_are_bounds_without_wrapping(
        values in prop::array::uniform3(number()),
        known in 0..8u8,
        (alive, writable, guessed, write) in any::<(bool, bool, bool, bool)>(),
    ) {
        let [offset, len, size] = values;
        let object = Extent::<Concrete> { alive, size: u128::from(size), writable, guessed };
        let at = (u128::from(offset), u128::from(len));
        let said = access(&mut Concrete, object, at, write);
        let past = u128::from(offset) + u128::from(len) > u128::from(size);
        let constant = write && !writable;
        let forgiven = guessed && past && alive && offset < 1 << 31 && !constant;
        prop_assert_eq!(said.rejected, forgiven);
        prop_assert_eq!(said.violated, (past || !alive || constant) && !forgiven);

        let mut pool = Pool::new();
        let terms = terms(&mut pool, &values, known);
        let object = Extent::<Pool> { alive: pool.bit(alive), size: terms[2], writable, guessed };
        let same = access(&mut pool, object, (terms[0], terms[1]), write);
        prop_assert_eq!(evaluated(&pool, same.violated, &values), said.violated);
        prop_assert_eq!(evaluated(&pool, same.rejected, &values), said.rejected);
    }

    #[test]
    fn operations_are_faults_for_numbers_and_terms_alike(
        op in 0..OPS.len(), width in 1..=64u16, values in prop::array::uniform2(number()), known in 0..4u8,
    ) {
        let op = (OPS[op], width);
        let ones = value::mask(width);
        let [a, b] = values.map(|v| u128::from(v) & ones);
        let said = operation(&mut Concrete, op, a, b);
        let expected = match can_be(op.0, true) {
            Some(CheckKind::DivisionByZero) => {
                let signed = matches!(op.0, BinOp::SDiv | BinOp::SRem);
                let exact = value::signed(width, a).checked_div(value::signed(width, b));
                b == 0 || signed && exact.is_none_or(|q| q > value::signed_max(width))
            }
            Some(_) => b >= u128::from(width),
            None => false,
        };
        prop_assert_eq!(said, expected);

        let mut pool = Pool::new();
        let terms = terms(&mut pool, &values, known);
        let terms: Vec<Term> = terms.iter().map(|&t| pool.extract(t, 0, width)).collect();
        let same = operation(&mut pool, op, terms[0], terms[1]);
        prop_assert_eq!(evaluated(&pool, same, &values), said);
    }

    #[test]
    fn sizes_and_alignments(values in prop::array::uniform2(number()), known in 0..4u8) {
        let [n, size] = values;
        let (all, overflow) = elements(&mut Concrete, u128::from(n), u128::from(size));
        prop_assert_eq!(all, u128::from(n.saturating_mul(size)));
        prop_assert_eq!(overflow, n.checked_mul(size).is_none());
        let refused = alignment(&mut Concrete, u128::from(n), 8);
        prop_assert_eq!(refused, !n.is_power_of_two() || !(8..=COARSEST).contains(&n));

        let mut pool = Pool::new();
        let terms = terms(&mut pool, &values, known);
        let (_, same) = elements(&mut pool, terms[0], terms[1]);
        prop_assert_eq!(evaluated(&pool, same, &values), overflow);
        let same = alignment(&mut pool, terms[0], 8);
        prop_assert_eq!(evaluated(&pool, same, &values), refused);
    }
}
