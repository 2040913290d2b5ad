//! Inline assembly that computes with registers only.
//!
//! Such assembly changes nothing but its outputs, so that these are any value for a proof. `cpuid`
//! and `xgetbv` alone are computed by the machine: a program asks them which instructions the
//! processor has. A single memory operand, jump, stack register or unknown mnemonic leaves the
//! assembly unmodelled.

use cegar_llvm::Value;

use super::body::Body;
use crate::program::ir::*;

/// Instructions that can neither fault nor access memory if all operands are registers or
/// immediate, without the suffix for a size.
const PURE: [&str; 55] = [
    "adc", "adcx", "add", "adox", "and", "andn", "bextr", "bsf", "bsr", "bswap", "bt", "btc",
    "btr", "bts", "bzhi", "cdq", "cmp", "cpuid", "cqo", "cqto", "cltd", "crc32", "dec", "imul",
    "inc", "lzcnt", "mov", "movabs", "mul", "mulx", "neg", "nop", "not", "or", "pause", "pdep",
    "pext", "popcnt", "rcl", "rcr", "rdtsc", "rol", "ror", "rorx", "sal", "sar", "sarx", "sbb",
    "shl", "shld", "shlx", "shr", "shrd", "shrx", "sub",
];
const MORE: [&str; 9] = [
    "test", "tzcnt", "xadd", "xchg", "xor", "mfence", "lfence", "sfence", "rdtscp",
];
/// `xgetbv` for assemblers that do not know it.
const XGETBV: &str = ".byte 0x0f, 0x01, 0xd0";

impl<'m> Body<'_, 'm> {
    /// Translates inline assembly; see the [module](self).
    pub(super) fn inline_assembly(
        &mut self,
        value: Value<'m>,
        code: &str,
        constraints: &str,
    ) -> Result<(), String> {
        let unmodelled = || "inline assembly".to_owned();
        let lines: Vec<&str> = statements(code).collect();
        let constraints = Constraints::of(constraints).ok_or_else(unmodelled)?;
        // Empty assembly is a compiler barrier, or hides a value from the optimiser.
        if lines.is_empty()
            && constraints.outputs.len() == 1
            && constraints.inputs == ["0"]
            && value.arguments().len() == 1
        {
            let (dst, a) = (self.result(value)?, self.scalar(value.operand(0))?);
            self.emit(Op::Copy { dst, a });
            return Ok(());
        }
        match lines[..] {
            ["cpuid"] => return self.cpuid(value, &constraints, None),
            [before, "cpuid", after] => {
                if let Some(output) = exchanged(before, after) {
                    return self.cpuid(value, &constraints, Some(output));
                }
            }
            ["xgetbv" | XGETBV] => return self.xgetbv(value, &constraints),
            _ => {}
        }
        if !lines.iter().all(|line| is_pure(line)) {
            return Err(unmodelled());
        }
        let mut args = Vec::new();
        for argument in value.arguments() {
            args.extend(self.sized(argument)?);
        }
        self.results(value, &args, |_| ProcessorFn::Unknown)
    }

    /// `cpuid`. `exchanged`: the output that gets `ebx`, if the constraints do not say it.
    fn cpuid(
        &mut self,
        value: Value<'m>,
        constraints: &Constraints,
        exchanged: Option<usize>,
    ) -> Result<(), String> {
        let args = [
            self.input(value, constraints, "ax")?,
            self.input(value, constraints, "cx")?,
        ];
        self.results(value, &args, |i| match constraints.output(i) {
            "ax" => ProcessorFn::Cpuid(CpuidRegister::Eax),
            "bx" => ProcessorFn::Cpuid(CpuidRegister::Ebx),
            _ if exchanged == Some(i) => ProcessorFn::Cpuid(CpuidRegister::Ebx),
            "cx" => ProcessorFn::Cpuid(CpuidRegister::Ecx),
            "dx" => ProcessorFn::Cpuid(CpuidRegister::Edx),
            _ => ProcessorFn::Unknown,
        })
    }

    fn xgetbv(&mut self, value: Value<'m>, constraints: &Constraints) -> Result<(), String> {
        let args = [self.input(value, constraints, "cx")?];
        // The processor need not have another control register.
        if args[0].0 != Operand::Const(0) {
            return Err("inline assembly".to_owned());
        }
        self.results(value, &args, |i| match constraints.output(i) {
            "ax" => ProcessorFn::Xgetbv { high: false },
            "dx" => ProcessorFn::Xgetbv { high: true },
            _ => ProcessorFn::Unknown,
        })
    }

    /// The input in a register, 32 bits of it; 0 if the assembly leaves the register open.
    fn input(
        &mut self,
        value: Value<'m>,
        constraints: &Constraints,
        register: &str,
    ) -> Result<(Operand, Width), String> {
        let at = constraints.inputs.iter().position(|input| {
            let tied = input.parse().ok().map(|i| constraints.output(i));
            tied.unwrap_or(named(input)) == register
        });
        let Some(at) = at else {
            return Ok((Operand::Const(0), 32));
        };
        match self.sized(value.operand(at as u32))?[..] {
            [(a, width)] if width > 32 => Ok((self.cast(CastKind::Trunc, (width, 32), a), 32)),
            [(a, width)] if width < 32 => Ok((self.cast(CastKind::ZExt, (width, 32), a), 32)),
            [(a, _)] => Ok((a, 32)),
            _ => Err("inline assembly".to_owned()),
        }
    }
}

/// The constraints of assembly without memory operands.
struct Constraints<'c> {
    /// Without `=` and `&`.
    outputs: Vec<&'c str>,
    inputs: Vec<&'c str>,
}

impl<'c> Constraints<'c> {
    /// `None` if an operand is in memory or is a label.
    fn of(text: &'c str) -> Option<Self> {
        let mut all = Constraints {
            outputs: Vec::new(),
            inputs: Vec::new(),
        };
        for one in text.split(',').filter(|one| !one.is_empty()) {
            if one.starts_with('~') {
                continue;
            }
            if one.contains(['*', '!']) {
                return None;
            }
            match one.strip_prefix('=') {
                Some(output) => all.outputs.push(output.trim_start_matches('&')),
                None => all.inputs.push(one),
            }
        }
        Some(all)
    }

    /// The register of an output, without `{}`.
    fn output(&self, index: usize) -> &'c str {
        named(self.outputs.get(index).copied().unwrap_or_default())
    }
}

fn named(constraint: &str) -> &str {
    constraint.trim_start_matches('{').trim_end_matches('}')
}

/// The output that gets `ebx` if the register, which compilers keep for themselves, is saved there
/// before `cpuid` and exchanged with it afterwards.
fn exchanged(before: &str, after: &str) -> Option<usize> {
    let output = |statement: &str, mnemonics: &[&str]| {
        let (mnemonic, operands) = statement.split_once(char::is_whitespace)?;
        let known = mnemonics.contains(&mnemonic.trim_end_matches(['l', 'q']));
        let (a, b) = operands.split_once(',').filter(|_| known)?;
        let is_base = |operand: &str| matches!(operand.trim(), "%rbx" | "%ebx");
        let other = match (is_base(a), is_base(b)) {
            (true, false) => b,
            (false, true) => a,
            _ => return None,
        };
        let number = other.trim().strip_prefix('$')?;
        let number = number.trim_start_matches('{').split([':', '}']).next()?;
        number.parse().ok()
    };
    let saved = output(before, &["xchg", "mov"])?;
    (output(after, &["xchg"])? == saved).then_some(saved)
}

/// The statements of assembly, without comments to the end of a line.
fn statements(code: &str) -> impl Iterator<Item = &str> {
    code.split(['\n', ';'])
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
}

/// Whether a statement can neither fault nor access memory.
fn is_pure(statement: &str) -> bool {
    let (mnemonic, operands) = statement
        .split_once(char::is_whitespace)
        .unwrap_or((statement, ""));
    let operands = operands.trim();
    if matches!(mnemonic, ".p2align" | ".align" | ".balign") {
        return true;
    }
    if matches!(mnemonic, "rep" | "repz") {
        return operands == "nop";
    }
    let known = |name: &str| {
        PURE.contains(&name)
            || MORE.contains(&name)
            || name.starts_with("cmov")
            || name.starts_with("set")
    };
    let short = mnemonic.strip_suffix(['b', 'w', 'l', 'q']);
    let operands = operands.split(',').map(str::trim);
    (known(mnemonic) || short.is_some_and(known))
        && operands
            .filter(|operand| !operand.is_empty())
            .all(is_register_or_number)
}

/// `%eax`, `$0`, `${0:k}` or `$$5`. The stack pointer is none of them.
fn is_register_or_number(operand: &str) -> bool {
    if let Some(number) = operand.strip_prefix("$$") {
        let digits = number.trim_start_matches('-').trim_start_matches("0x");
        return !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_hexdigit());
    }
    if let Some(register) = operand.strip_prefix('%') {
        let general = register.trim_start_matches(['r', 'e']);
        return matches!(general, "ax" | "bx" | "cx" | "dx" | "si" | "di" | "bp")
            || matches!(
                register,
                "al" | "ah" | "bl" | "bh" | "cl" | "ch" | "dl" | "dh"
            )
            || general
                .trim_end_matches(['d', 'w', 'b'])
                .parse()
                .is_ok_and(|number: u8| (8..16).contains(&number));
    }
    let Some(number) = operand.strip_prefix('$') else {
        return false;
    };
    let number = number.trim_start_matches('{').trim_end_matches('}');
    let (number, modifier) = number.split_once(':').unwrap_or((number, ""));
    !number.is_empty()
        && number.bytes().all(|c| c.is_ascii_digit())
        && modifier.bytes().all(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_registers_are_pure() {
        let pure = |code: &str| statements(code).all(is_pure);
        assert!(pure("cmp $1, $2\n\tcmova $3, $0"));
        assert!(pure(".p2align 5\n\tnop"));
        assert!(pure("rep; nop") == false && pure("rep nop") && pure("xchgq %rbx, ${1:q}"));
        assert!(pure("addq $$-16, $0 # a comment"));
        for code in [
            "mov ($1), $0",
            "movq %fs:0, $0",
            "mov %rsp, $0",
            "mov %cr0, $0",
            "mov counter, $0",
            "divq $2",
            "1:\n\tdec $0\n\tjnz 1b",
            "syscall",
            "ud2",
            "push $0",
            "mov dword ptr [rax], ebx",
        ] {
            assert!(!pure(code), "{code}");
        }
    }

    #[test]
    fn the_base_register_is_exchanged() {
        let both = |before, after| exchanged(before, after);
        assert_eq!(both("xchgq  %rbx,${1:q}", "xchgq  %rbx,${1:q}"), Some(1));
        assert_eq!(both("mov %ebx, $2", "xchg $2, %ebx"), Some(2));
        assert_eq!(both("xchg %rbx, $1", "xchg %rbx, $2"), None);
        assert_eq!(both("mov $1, %eax", "xchg $1, %ebx"), None);
    }

    #[test]
    fn operands_in_memory_are_refused() {
        assert!(Constraints::of("=r,r,~{memory}").is_some());
        for text in ["=*m,r", "*m", "r,!i"] {
            assert!(Constraints::of(text).is_none(), "{text}");
        }
        let tied = Constraints::of("={ax},=&{bx},={cx},={dx},0,2").expect("registers");
        assert_eq!(
            (tied.output(1), tied.inputs.as_slice()),
            ("bx", &["0", "2"][..])
        );
    }
}
