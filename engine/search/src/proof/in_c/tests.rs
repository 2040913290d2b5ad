//! Compiles C expressions and compares their values with those of the formulas, for values at the
//! limits of every type.

use std::fmt::Write as _;
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::expression::Speaker;
use cegar_model::program::ir::{BinOp, CastKind, Holder, Named, Pred, Reg, Width};
use cegar_model::term::{Environment, Evaluator, Node, Pool, Term};

/// Name, width, signedness and type.
const VARIABLES: [(&str, Width, bool, &str); 6] = [
    ("c", 8, true, "signed char"),
    ("b", 8, false, "unsigned char"),
    ("i", 32, true, "int"),
    ("u", 32, false, "unsigned int"),
    ("l", 64, true, "long"),
    ("n", 64, false, "unsigned long"),
];
const EDGES: [u64; 9] = [
    0,
    1,
    2,
    7,
    0x7f,
    0x80,
    0x7fff_ffff,
    0xffff_ffff_8000_0000,
    u64::MAX,
];
const FORMULAS: usize = 1_500;

#[derive(Clone, Debug)]
enum Tree {
    Variable(usize),
    Constant(u64),
    Bin(BinOp, Box<Tree>, Box<Tree>),
    Cast(CastKind, Box<Tree>, Width),
    Extract(Box<Tree>, u16, Width),
    Not(Box<Tree>),
    Ite(Pred, Box<Tree>, Box<Tree>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        3 => (0..VARIABLES.len()).prop_map(Tree::Variable),
        1 => prop::sample::select(EDGES.to_vec()).prop_map(Tree::Constant),
    ];
    let ops = prop::sample::select(vec![
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::UDiv,
        BinOp::SDiv,
        BinOp::URem,
        BinOp::SRem,
        BinOp::Shl,
        BinOp::LShr,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
    ]);
    let widths = prop::sample::select(vec![7, 8, 16, 32, 33, 64_u16]);
    let casts = prop::sample::select(vec![CastKind::SExt, CastKind::ZExt, CastKind::Trunc]);
    leaf.prop_recursive(4, 24, 2, move |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            4 => (ops.clone(), boxed.clone(), boxed.clone()).prop_map(|(op, a, b)| Tree::Bin(op, a, b)),
            2 => (casts.clone(), boxed.clone(), widths.clone()).prop_map(|(c, a, w)| Tree::Cast(c, a, w)),
            1 => (boxed.clone(), 0..9_u16, widths.clone()).prop_map(|(a, low, w)| Tree::Extract(a, low, w)),
            1 => boxed.clone().prop_map(Tree::Not),
            1 => (predicate(), boxed.clone(), boxed).prop_map(|(p, a, b)| Tree::Ite(p, a, b)),
        ]
    })
}

fn predicate() -> impl Strategy<Value = Pred> + Clone {
    prop::sample::select(vec![
        Pred::Eq,
        Pred::Ne,
        Pred::Ult,
        Pred::Ule,
        Pred::Slt,
        Pred::Sle,
    ])
}

/// The term `b`, resized to the width of `a`.
fn same(pool: &mut Pool, a: Term, b: Term) -> Term {
    resized(pool, b, pool.width(a), CastKind::SExt)
}

fn resized(pool: &mut Pool, t: Term, width: Width, wider: CastKind) -> Term {
    match pool.width(t) {
        own if own < width => pool.cast(wider, t, width),
        own if own > width => pool.extract(t, 0, width),
        _ => t,
    }
}

impl Tree {
    fn build(&self, pool: &mut Pool) -> Term {
        match self {
            Tree::Variable(at) => {
                let (name, width, ..) = VARIABLES[*at];
                pool.variable(name, width)
            }
            Tree::Constant(c) => pool.constant(32, u128::from(*c & 0xffff_ffff)),
            Tree::Bin(op, a, b) => {
                let (a, b) = (a.build(pool), b.build(pool));
                let b = same(pool, a, b);
                pool.bin(*op, a, b)
            }
            Tree::Cast(kind, a, width) => {
                let a = a.build(pool);
                let kind = match kind {
                    CastKind::Trunc => CastKind::ZExt,
                    other => *other,
                };
                resized(pool, a, *width, kind)
            }
            Tree::Extract(a, low, width) => {
                let a = a.build(pool);
                let own = pool.width(a);
                let low = (*low).min(own - 1);
                pool.extract(a, low, (*width).min(own - low))
            }
            Tree::Not(a) => {
                let a = a.build(pool);
                pool.not(a)
            }
            Tree::Ite(pred, a, b) => {
                let (a, b) = (a.build(pool), b.build(pool));
                let b = same(pool, a, b);
                let less = pool.cmp(*pred, a, b);
                pool.ite(less, a, b)
            }
        }
    }
}

struct Values<'a> {
    pool: &'a Pool,
    all: [u64; 6],
}

impl Environment for Values<'_> {
    fn input(&self, _at: u32) -> u8 {
        0
    }

    fn variable(&self, number: u32) -> u128 {
        let name = self.pool.variable_name(number);
        let at = VARIABLES.iter().position(|(known, ..)| *known == name);
        let at = at.expect("it is one of ours");
        u128::from(self.all[at]) & cegar_model::term::value::mask(VARIABLES[at].1)
    }
}

#[test]
fn what_is_said_means_the_same_and_is_defined() {
    let mut pool = Pool::new();
    let mut runner = TestRunner::deterministic();
    let strategy = (predicate(), tree(), tree());
    let mut facts = Vec::new();
    while facts.len() < FORMULAS {
        let (pred, a, b) = strategy.new_tree(&mut runner).expect("a tree").current();
        let (a, b) = (a.build(&mut pool), b.build(&mut pool));
        let b = same(&mut pool, a, b);
        let fact = pool.cmp(pred, a, b);
        if pool.as_const(fact).is_none() {
            facts.push(fact);
        }
    }
    let mut names = rustc_hash::FxHashMap::default();
    for (name, bits, signed, _) in VARIABLES {
        let term = pool.variable(name, bits);
        if let Node::Variable(number) = *pool.node(term) {
            let name = name.to_owned();
            let holder = Holder::Register(Reg(0));
            names.insert(
                number,
                Named {
                    name,
                    bits,
                    signed,
                    holder,
                },
            );
        }
    }
    let speaker = Speaker { pool: &pool, names };
    let said: Vec<(Term, String)> = facts
        .into_iter()
        .filter_map(|fact| Some((fact, speaker.say(fact)?.text)))
        .collect();
    assert!(said.len() > FORMULAS / 8, "only {} are said", said.len());
    run(&pool, &said);
}

/// Compiles a program that evaluates all expressions under the sanitizer, and compares its output.
fn run(pool: &Pool, said: &[(Term, String)]) {
    let rows: Vec<[u64; 6]> = (0..EDGES.len() * 5)
        .map(|row| {
            std::array::from_fn(|at| EDGES[(row * (at + 1) + row / EDGES.len() * at) % EDGES.len()])
        })
        .collect();
    let mut source = "#include <stdio.h>\n".to_owned();
    let parameters = VARIABLES
        .map(|(name, _, _, ty)| format!("{ty} {name}"))
        .join(", ");
    let unused = VARIABLES
        .map(|(name, ..)| format!("(void){name};"))
        .concat();
    for (at, (_, text)) in said.iter().enumerate() {
        let _ = writeln!(
            source,
            "static int f{at}({parameters}) {{ {unused} return {text}; }}"
        );
    }
    let _ = writeln!(source, "static void all({parameters}) {{");
    for at in 0..said.len() {
        let _ = writeln!(source, "  putchar('0' + (f{at}(c, b, i, u, l, n) != 0));");
    }
    let _ = writeln!(source, "  putchar('\\n');\n}}\nint main(void) {{");
    for row in &rows {
        let values = row.map(|value| format!("{value}UL")).join(", ");
        let _ = writeln!(source, "  all({values});");
    }
    source.push_str("  return 0;\n}\n");

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("said.c");
    let program = folder.path().join("said");
    std::fs::write(&file, &source).expect("written");
    let built = Command::new("gcc")
        .args([
            "-std=c11",
            "-w",
            "-Werror=implicit",
            "-fsanitize=undefined",
            "-fno-sanitize-recover=all",
            "-o",
        ])
        .args([&program, &file])
        .output()
        .expect("gcc runs");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let ran = Command::new(&program).output().expect("it runs");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let printed = String::from_utf8_lossy(&ran.stdout);
    let mut evaluator = Evaluator::new();
    for (row, line) in rows.iter().zip(printed.lines()) {
        evaluator.reset();
        let values = Values { pool, all: *row };
        for ((fact, text), found) in said.iter().zip(line.chars()) {
            let meant = evaluator.eval_in(pool, *fact, &values);
            let found = u128::from(found == '1');
            assert_eq!(found, meant, "{text} where c, b, i, u, l, n are {row:x?}");
        }
    }
    assert_eq!(printed.lines().count(), rows.len());
}

#[test]
fn facts_read_as_a_person_would_write_them() {
    let mut pool = Pool::new();
    let i = pool.variable("i", 32);
    let n = pool.variable("n", 32);
    let named = |name: &str, signed| Named {
        name: name.to_owned(),
        bits: 32,
        signed,
        holder: Holder::Register(Reg(0)),
    };
    let number = |pool: &Pool, t| match *pool.node(t) {
        Node::Variable(number) => number,
        _ => u32::MAX,
    };
    let names = [
        (number(&pool, i), named("i", true)),
        (number(&pool, n), named("n", false)),
    ];
    let ten = pool.constant(32, 10);
    let one = pool.constant(32, 1);
    let wide = pool.cast(CastKind::SExt, i, 64);
    let wide_ten = pool.constant(64, 10);
    let next = pool.bin(BinOp::Add, i, one);
    let wide_next = pool.constant(64, 1);
    let wide_next = pool.bin(BinOp::Add, wide, wide_next);
    let facts = [
        (pool.cmp(Pred::Sle, i, ten), "i < 11"),
        (pool.cmp(Pred::Slt, wide, wide_ten), "i < 10"),
        (pool.cmp(Pred::Ule, n, ten), "n < 11"),
        (pool.cmp(Pred::Ule, i, n), "(unsigned int)i <= n"),
        (
            pool.cmp(Pred::Sle, next, ten),
            "(int)((unsigned int)i + 1U) < 11",
        ),
        (
            pool.cmp(Pred::Sle, wide_next, wide_ten),
            "(long)i + 1L < 11",
        ),
    ];
    let speaker = Speaker {
        pool: &pool,
        names: names.into_iter().collect(),
    };
    for (fact, text) in facts {
        let said = speaker.say(fact).map(|said| said.text);
        assert_eq!(said.as_deref(), Some(text));
    }
}

#[test]
fn contexts_are_combined() {
    let fact = |text: &str| super::Fact {
        text: text.to_owned(),
        term: None,
    };
    let combined = |contexts: &[&[&str]]| {
        let contexts = contexts.iter();
        let contexts = contexts.map(|all| all.iter().map(|text| fact(text)).collect());
        super::combined(contexts.collect(), &mut |_, _| {})
    };
    let said = |all: &[&str]| all.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let told = combined(&[&["a", "b"], &["a", "c", "d"]]);
    assert_eq!(told, (said(&["a", "((b) || (c && d))"]), 0));
    // One of the contexts has only the common facts.
    assert_eq!(combined(&[&["a", "b"], &["a"]]), (said(&["a"]), 1));
    assert_eq!(combined(&[]), (Vec::new(), 0));
}
