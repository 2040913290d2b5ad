//! Comparison logging: reports what the program compares to the fuzzer.
//!
//! A fuzzer that only sees which blocks ran cannot guess `x == 0xdeadbeef`. If it knows both sides
//! of each comparison, it can look for one side in the input and replace it by the other. clang's
//! own `trace-cmp` instrumentation silently does nothing on bitcode, and would run after
//! optimisation, so the calls are inserted here: before each integer comparison with a side that is
//! not constant, each comparison of floats, and each call of a comparing function of `<string.h>`.
//!
//! This pass also collects the constants, as tokens for the mutators.

use cegar_llvm::{Builder, LLVMOpcode, LLVMTypeKind, Module, Value};

/// Functions that compare memory or strings: the name, and whether the last argument is a length.
const COMPARING: [(&str, bool); 8] = [
    ("memcmp", true),
    ("bcmp", true),
    ("strcmp", false),
    ("strcasecmp", false),
    ("strstr", false),
    ("strncmp", true),
    ("strncasecmp", true),
    ("strcoll", false),
];

/// The length of the longest token that is kept, in bytes.
const LONGEST_TOKEN: usize = 64;

/// Logs a comparison (if `insert` is set) and collects its constants.
pub(super) fn log<'m>(
    module: &'m Module,
    instruction: Value<'m>,
    tokens: &mut Vec<Vec<u8>>,
    insert: bool,
) {
    match instruction.opcode() {
        Some(LLVMOpcode::LLVMICmp) => integers(module, instruction, tokens, insert),
        Some(LLVMOpcode::LLVMSwitch) => cases(module, instruction, tokens, insert),
        Some(LLVMOpcode::LLVMFCmp) if insert => floats(module, instruction),
        Some(LLVMOpcode::LLVMCall) => calls(module, instruction, tokens, insert),
        _ => {}
    }
}

/// The width in bits of a value before it was extended: `(long)c == 'a'` compares one byte.
fn narrow_width(value: Value<'_>) -> u32 {
    let whole = value.ty().int_width().unwrap_or(64);
    match value.opcode() {
        Some(LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMSExt) => {
            value.operand(0).ty().int_width().unwrap_or(whole).max(8)
        }
        _ => whole,
    }
}

/// Whether truncating the constant to `width` bits and extending it again (with zeros or the sign)
/// preserves it.
fn fits(constant: u64, width: u32, whole: u32) -> bool {
    let mask = |w: u32| if w >= 64 { u64::MAX } else { (1 << w) - 1 };
    let kept = constant & mask(width);
    kept == constant || (kept | !mask(width)) & mask(whole) == constant
}

fn integers<'m>(module: &'m Module, compare: Value<'m>, tokens: &mut Vec<Vec<u8>>, insert: bool) {
    let (a, b) = (compare.operand(0), compare.operand(1));
    if let Some(whole) = a.ty().int_width() {
        let constants = [a.const_int(), b.const_int()];
        let mut width = narrow_width(a).max(narrow_width(b));
        if let [Some(c), None] | [None, Some(c)] = constants {
            let other = narrow_width(if a.is_constant() { b } else { a });
            if other < whole && fits(c, other, whole) {
                width = other;
            }
        }
        for constant in constants.into_iter().flatten() {
            token(tokens, constant, width);
        }
        if insert && whole > 1 && whole <= 64 && !(a.is_constant() && b.is_constant()) {
            let at = Builder::before(compare);
            let long = module.int(64);
            let (x, y) = (at.resize(a, long, false), at.resize(b, long, false));
            emit(
                module,
                &at,
                x,
                y,
                width.div_ceil(8),
                a.is_constant(),
                b.is_constant(),
            );
        }
    }
}

fn cases<'m>(module: &'m Module, switch: Value<'m>, tokens: &mut Vec<Vec<u8>>, insert: bool) {
    let value = switch.operand(0);
    let width = narrow_width(value);
    // The operands: the value, the default target, then alternately case and target.
    for i in (2..switch.operand_count()).step_by(2) {
        let case = switch.operand(i);
        let Some(constant) = case.const_int() else {
            continue;
        };
        token(tokens, constant, width);
        if insert {
            let at = Builder::before(switch);
            let long = module.int(64);
            let (x, y) = (at.resize(value, long, false), long.number(constant));
            emit(module, &at, x, y, width.div_ceil(8), false, true);
        }
    }
}

fn floats<'m>(module: &'m Module, compare: Value<'m>) {
    let (a, b) = (compare.operand(0), compare.operand(1));
    let width = match a.ty().kind() {
        LLVMTypeKind::LLVMFloatTypeKind => 32,
        LLVMTypeKind::LLVMDoubleTypeKind => 64,
        _ => return,
    };
    let at = Builder::before(compare);
    let bits = |v| at.resize(at.bitcast(v, module.int(width)), module.int(64), false);
    let (x, y) = (bits(a), bits(b));
    emit(
        module,
        &at,
        x,
        y,
        width / 8,
        a.is_constant(),
        b.is_constant(),
    );
}

fn emit<'m>(
    module: &'m Module,
    at: &Builder<'m>,
    a: Value<'m>,
    b: Value<'m>,
    bytes: u32,
    a_constant: bool,
    b_constant: bool,
) {
    let (int, long) = (module.int(32), module.int(64));
    let log = module.declare("__cegar_cmp", module.void(), &[long, long, int, int]);
    let mask = u64::from(a_constant) | u64::from(b_constant) << 1;
    // Three bytes (a 24-bit field) are searched for as four.
    let bytes = u64::from(bytes.next_power_of_two());
    at.call(log, &[a, b, int.number(bytes), int.number(mask)]);
}

fn calls<'m>(module: &'m Module, call: Value<'m>, tokens: &mut Vec<Vec<u8>>, insert: bool) {
    let Some(callee) = call.called_function() else {
        return;
    };
    let name = callee.name();
    let name = name.strip_prefix("CRUNNER_").unwrap_or(&name);
    let bare = name
        .trim_start_matches("__isoc99_")
        .trim_start_matches("__isoc23_");
    if READING.contains(&bare) {
        tokens.extend(ENDS.iter().map(|text| text.as_bytes().to_vec()));
    }
    let Some(&(_, sized)) = COMPARING.iter().find(|(n, _)| *n == name) else {
        return;
    };
    if call.arguments().len() < 2 + usize::from(sized) {
        return;
    }
    for i in 0..2 {
        if let Some(text) = constant_string(call.operand(i))
            && (2..=LONGEST_TOKEN).contains(&text.len())
        {
            tokens.push(text.to_vec());
        }
    }
    if insert {
        let at = Builder::before(call);
        let (ptr, long, int) = (module.pointer(), module.int(64), module.int(32));
        let limit = if sized {
            at.resize(call.operand(2), long, false)
        } else {
            long.number(u64::MAX)
        };
        let text = u64::from(name.starts_with("str"));
        let log = module.declare("__cegar_cmp_memory", module.void(), &[ptr, ptr, long, int]);
        at.call(
            log,
            &[call.operand(0), call.operand(1), limit, int.number(text)],
        );
    }
}

/// The bytes of a constant string that an argument points to, without its NUL.
fn constant_string(argument: Value<'_>) -> Option<&[u8]> {
    let text = argument.initializer()?.bytes()?;
    let text = text.split(|&byte| byte == 0).next();
    text.filter(|_| argument.is_global_constant())
}

/// Functions that parse decimal numbers.
const READING: [&str; 14] = [
    "atoi",
    "atol",
    "atoll",
    "strtol",
    "strtoul",
    "strtoll",
    "strtoull",
    "strtoimax",
    "strtoumax",
    "scanf",
    "fscanf",
    "sscanf",
    "vsscanf",
    "vfscanf",
];

/// The limits of C's integer types in decimal: no comparison shows them, and arithmetic overflows
/// there.
const ENDS: [&str; 7] = [
    "-1",
    "2147483647",
    "-2147483648",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
];

/// Keeps a constant of two bytes or more, in both byte orders. The havoc mutations write small
/// numbers anyway.
fn token(tokens: &mut Vec<Vec<u8>>, constant: u64, width: u32) {
    let bytes = (width / 8) as usize;
    if constant < 256 || !(2..=8).contains(&bytes) || constant == u64::MAX >> (64 - width) {
        return;
    }
    let mut little = constant.to_le_bytes()[..bytes].to_vec();
    tokens.push(little.clone());
    little.reverse();
    tokens.push(little);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_widened_constant_fits_its_source() {
        assert!(fits(0x41, 8, 32));
        assert!(fits(0xffff_ffff, 8, 32), "EOF as a sign-extended byte");
        assert!(!fits(0x1234, 8, 32));
    }

    #[test]
    fn tokens_come_in_both_orders() {
        let mut tokens = Vec::new();
        token(&mut tokens, 0xdead_beef, 32);
        token(&mut tokens, 7, 32);
        assert_eq!(
            tokens,
            [vec![0xef, 0xbe, 0xad, 0xde], vec![0xde, 0xad, 0xbe, 0xef]]
        );
    }
}
