//! The shadow predicts the behaviour of other tapes: every recorded condition is evaluated on other
//! tapes and compared with what the machine does there.

use super::super::{Event, Limits, Machine, Outcome};
use super::build;
use crate::term::{Evaluator, Pool, Term};

/// Runs symbolically and concretely on the same tape: both end the same way, and the conditions
/// hold as recorded.
fn agrees(source: &str, tapes: &[&[u8]]) {
    let built = build(source);
    let machine = Machine::new(&built.program, Limits::default());
    for tape in tapes {
        let mut pool = Pool::new();
        let run = machine.run_symbolic(tape, &mut pool, 0..tape.len());
        let plain = machine.run(tape);
        assert_eq!(run.outcome, plain.outcome);
        assert_eq!(run.counts, plain.counts);
        assert_eq!(run.steps, plain.steps);
        for event in &run.path {
            let (term, expected) = event.event.condition();
            assert_eq!(
                evaluate(&pool, term, tape),
                u128::from(expected),
                "{event:?}"
            );
        }
        // On another tape that satisfies every condition, the run takes the same path.
        for other in tapes {
            let same = run.path.iter().all(|event| {
                let (term, expected) = event.event.condition();
                evaluate(&pool, term, other) == u128::from(expected)
            });
            if same && other.len() == tape.len() {
                assert_eq!(
                    machine.run(other).counts,
                    plain.counts,
                    "{tape:?} and {other:?}"
                );
            }
        }
    }
}

fn evaluate(pool: &Pool, term: Term, tape: &[u8]) -> u128 {
    let byte = |i: u32| tape.get(i as usize).copied().unwrap_or(0);
    Evaluator::new().eval(pool, term, &byte)
}

const TAPES: [&[u8]; 8] = [
    &[0, 0, 0, 0, 0, 0, 0, 0],
    &[1, 2, 3, 4, 5, 6, 7, 8],
    &[1, 2, 3, 4, 5, 6, 7, 9],
    &[255, 254, 253, 252, 251, 250, 249, 248],
    &[7, 0, 0, 0, 1, 0, 0, 0],
    &[3, 0, 0, 0, 2, 1, 9, 9],
    &[2, 3, 1, 0, 2, 1, 9, 9],
    &[128, 0, 0, 128, 0, 0, 0, 128],
];

#[test]
fn arithmetic_and_memory() {
    agrees(
        "int cegar_entry(void) { int a = word(), b = byte(); short s[4];
         for (int i = 0; i < 4; i++) s[i] = a >> (i * 8);
         s[b & 3] = 77; int r = 0;
         for (int i = 0; i < 4; i++) { if (s[i] > 40) r++; if ((u8)s[i] == 77) r += 8; }
         if (b && a % b == 1) r += 16;
         if ((unsigned)a * 3u > 1000u) r += 32;
         return r; }",
        &TAPES,
    );
}

#[test]
fn symbolic_reads_and_block_moves() {
    agrees(
        "static const u8 table[256] = {1,2,3,4,5,6,7,8,9,[128] = 5, [200] = 6, [255] = 9};
         void *memcpy(void *, const void *, size_t);
         int cegar_entry(void) { u8 in[8], copy[8]; crunner_choose(\"d\", in, 8);
         __builtin_memcpy(copy, in, 8); int sum = 0;
         for (int i = 0; i < 8; i++) sum += table[copy[i]];
         if (sum > 20) return 1; if (table[sum & 15] == 3) return 2;
         if (*(unsigned *)(copy + 2) > 0x1000000) return 3; return 4; }",
        &TAPES,
    );
}

#[test]
fn sizes_that_are_inputs() {
    agrees(
        "void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t); void free(void *);
         void *memset(void *, int, size_t); size_t malloc_usable_size(void *);
         int cegar_entry(void) { size_t n = byte() & 15, m = byte() & 7; u8 *p = malloc(n), *q = calloc(m, 2);
         int r = 0; for (size_t i = 0; i < n && i < 4; i++) p[i] = (u8)i;
         if (n > 5) { __builtin_memset(p, 1, 6); r += p[byte() % n]; }
         if (m) { q[1] = 3; q = realloc(q, m + n); if (q && m + n > 2) r += q[1]; }
         if (malloc_usable_size(q) > 9) r += 40;
         { u8 row[n + 1]; row[n] = 2; r += row[n]; }
         free(p); free(q); return r; }",
        &TAPES,
    );
}

/// Any run that fills a larger buffer reveals the largest size that is too small.
#[test]
fn the_last_byte_that_is_used_bounds_the_size() {
    let built = build(
        "void *malloc(size_t);
         int cegar_entry(void) { size_t n = byte(); u8 *p = malloc(n); size_t i;
         for (i = 0; i < 5 && i < n; i++) p[i] = 1; p[i] = 0; return 0; }",
    );
    let machine = Machine::new(&built.program, Limits::default());
    let mut pool = Pool::new();
    let run = machine.run_symbolic(&[200], &mut pool, 0..1);
    assert_eq!(run.outcome, Outcome::Returned(0));
    let Some(Event::Check { violated, .. }) = run.path.last().map(|e| e.event) else {
        unreachable!()
    };
    let held = |n: u8| {
        run.path[..run.path.len() - 1].iter().all(|event| {
            let (term, expected) = event.event.condition();
            evaluate(&pool, term, &[n]) == u128::from(expected)
        })
    };
    let violating: Vec<u8> = (0..=255)
        .filter(|n| held(*n) && evaluate(&pool, violated, &[*n]) == 1)
        .collect();
    assert_eq!(violating, [5]);
}

#[test]
fn branches_checks_and_assumptions_are_recorded() {
    let built = build(
        "int cegar_entry(void) { u8 a[4] = {0}; u8 b = byte(); crunner_assume(b < 100); if (b < 4) a[b] = 1;
         return a[byte()]; }",
    );
    let machine = Machine::new(&built.program, Limits::default());
    let mut pool = Pool::new();
    let run = machine.run_symbolic(&[2, 2], &mut pool, 0..2);
    assert_eq!(run.outcome, Outcome::Returned(1));
    let kinds: Vec<&str> = run
        .path
        .iter()
        .map(|e| match e.event {
            Event::Branch { .. } => "branch",
            Event::Check { .. } => "check",
            Event::Assume { .. } => "assume",
            Event::Concretised { .. } => "fixed",
        })
        .collect();
    assert_eq!(kinds, ["assume", "branch", "check", "check"]);
    let Event::Check { violated, .. } = run.path[3].event else {
        unreachable!()
    };
    assert_eq!(evaluate(&pool, violated, &[2, 3]), 0);
    assert_eq!(evaluate(&pool, violated, &[2, 4]), 1);
    assert_eq!(
        (run.choices.len(), run.consumed, run.exhausted),
        (2, 2, None)
    );
    assert_eq!(&*run.choices[0].channel, "byte");
}

#[test]
fn past_the_end_are_inputs_only_on_request() {
    let built = build("int cegar_entry(void) { if (byte() == 9) return 1; return 2; }");
    let run = |extend| {
        let limits = Limits {
            extend,
            ..Limits::default()
        };
        let mut pool = Pool::new();
        Machine::new(&built.program, limits).run_symbolic(&[], &mut pool, 0..0)
    };
    let plain = run(0);
    assert_eq!(
        (plain.path.len(), plain.exhausted.map(|e| e.choice)),
        (0, Some(0))
    );
    assert_eq!(run(4).path.len(), 1);
}
