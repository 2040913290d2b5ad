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
/// immediate, without the suffix for a size. `bt` is none of them: with an operand that the
/// compiler puts into memory, it accesses the memory around it.
const PURE: &[&str] = &[
    "adc", "adcx", "add", "adox", "and", "andn", "bextr", "bsf", "bsr", "bswap", "bzhi", "cdq",
    "cltd", "cmp", "cpuid", "cqo", "cqto", "crc32", "dec", "imul", "inc", "lfence", "lzcnt",
    "mfence", "mov", "movabs", "mul", "mulx", "neg", "nop", "not", "or", "pause", "pdep", "pext",
    "popcnt", "rcl", "rcr", "rdtsc", "rdtscp", "rol", "ror", "rorx", "sal", "sar", "sarx", "sbb",
    "sfence", "shl", "shld", "shlx", "shr", "shrd", "shrx", "sub", "test", "tzcnt", "xadd", "xchg",
    "xor",
];
/// The conditions of `cmov` and `set`.
const CONDITIONS: &[&str] = &[
    "a", "ae", "b", "be", "c", "e", "g", "ge", "l", "le", "na", "nae", "nb", "nbe", "nc", "ne",
    "ng", "nge", "nl", "nle", "no", "np", "ns", "nz", "o", "p", "pe", "po", "s", "z",
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
        let mut lines: Vec<&str> = statements(code).collect();
        // The old spelling of `pause`.
        if lines[..] == ["rep", "nop"] || lines[..] == ["rep nop"] {
            lines = vec!["pause"];
        }
        // Empty assembly is a compiler barrier, or hides a value from the optimiser.
        if lines.is_empty() && value.ty().is_void() {
            return Ok(());
        }
        let constraints = Constraints::of(constraints).ok_or_else(unmodelled)?;
        if lines.is_empty() {
            return self.hidden(value, &constraints);
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
        if !lines.iter().all(|line| is_pure(line, &constraints)) {
            return Err(unmodelled());
        }
        self.unknown(value, "inline assembly")
    }

    /// Empty assembly: an output is the input that shares its register. If one shares none, the
    /// outputs are any values.
    fn hidden(&mut self, value: Value<'m>, constraints: &Constraints) -> Result<(), String> {
        let (first, outputs) = self.place(value)?;
        for i in 0..outputs {
            let tied = i.to_string();
            let at = constraints.inputs.iter().position(|input| *input == tied);
            let Some(at) = at else {
                return self.unknown(value, "inline assembly without code");
            };
            let a = self.scalar(value.operand(at as u32))?;
            self.emit(Op::Copy {
                dst: Reg(first.0 + i),
                a,
            });
        }
        Ok(())
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
            _ => ProcessorFn::Unspecified,
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
            _ => ProcessorFn::Unspecified,
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
    /// Without `~`.
    clobbers: Vec<&'c str>,
}

impl<'c> Constraints<'c> {
    /// `None` if an operand is in memory or is a label.
    fn of(text: &'c str) -> Option<Self> {
        let mut all = Constraints {
            outputs: Vec::new(),
            inputs: Vec::new(),
            clobbers: Vec::new(),
        };
        for one in text.split(',').filter(|one| !one.is_empty()) {
            if let Some(clobber) = one.strip_prefix('~') {
                all.clobbers.push(clobber);
                continue;
            }
            // Memory, a label, several alternatives, an address.
            if one.contains(['*', '!', '|']) || one.trim_start_matches(['=', '&']) == "p" {
                return None;
            }
            match one.strip_prefix('=') {
                Some(output) => all.outputs.push(output.trim_start_matches('&')),
                None => all.inputs.push(one),
            }
        }
        Some(all)
    }

    /// Whether the compiler knows that the assembly uses this register.
    fn names(&self, register: &str) -> bool {
        let all = self
            .outputs
            .iter()
            .chain(&self.inputs)
            .chain(&self.clobbers);
        all.into_iter()
            .any(|one| whole(named(one)) == whole(register))
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

/// The name that all parts of a register have here: `ax` for `eax`, `rax`, `al` and `ah`.
fn whole(register: &str) -> &str {
    match register {
        "al" | "ah" => "ax",
        "bl" | "bh" => "bx",
        "cl" | "ch" => "cx",
        "dl" | "dh" => "dx",
        _ => match register.strip_prefix(['r', 'e']) {
            Some(rest) if matches!(rest, "ax" | "bx" | "cx" | "dx" | "si" | "di") => rest,
            _ => register.trim_end_matches(['d', 'w', 'b']),
        },
    }
}

/// Whether a statement can neither fault nor access memory, and changes what the constraints name.
fn is_pure(statement: &str, constraints: &Constraints) -> bool {
    let (mnemonic, operands) = statement
        .split_once(char::is_whitespace)
        .unwrap_or((statement, ""));
    if matches!(mnemonic, ".p2align" | ".align" | ".balign") {
        return true;
    }
    let known = |name: &str| {
        let condition = name.strip_prefix("cmov").or(name.strip_prefix("set"));
        PURE.contains(&name) || condition.is_some_and(|name| CONDITIONS.contains(&name))
    };
    let short = mnemonic.strip_suffix(['b', 'w', 'l', 'q']);
    let mut operands = operands.split(',').map(str::trim);
    (known(mnemonic) || short.is_some_and(known))
        && operands.all(|operand| operand.is_empty() || is_plain(operand, constraints))
}

/// `%eax`, `$0`, `${0:k}` or `$$5`. The registers of the stack are none of them, and a register has
/// to be named in the constraints.
fn is_plain(operand: &str, constraints: &Constraints) -> bool {
    if let Some(number) = operand.strip_prefix("$$") {
        let digits = number.trim_start_matches('-').trim_start_matches("0x");
        return !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_hexdigit());
    }
    if let Some(register) = operand.strip_prefix('%') {
        let name = whole(register);
        let is_general = matches!(name, "ax" | "bx" | "cx" | "dx" | "si" | "di")
            || name.strip_prefix('r').is_some_and(|number| {
                let number = number.parse();
                number.is_ok_and(|number: u8| (8..16).contains(&number))
            });
        return is_general && constraints.names(register);
    }
    let Some(number) = operand.strip_prefix('$') else {
        return false;
    };
    let number = number.trim_start_matches('{').trim_end_matches('}');
    let (number, modifier) = number.split_once(':').unwrap_or((number, ""));
    // Other modifiers make an address of the operand.
    !number.is_empty()
        && number.bytes().all(|c| c.is_ascii_digit())
        && matches!(modifier, "" | "b" | "h" | "w" | "k" | "q")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_registers_are_pure() {
        let text = "=r,{cx},~{rax},~{rbx},~{memory}";
        let constraints = Constraints::of(text).expect("registers");
        let pure = |code: &str| statements(code).all(|line| is_pure(line, &constraints));
        assert!(pure("cmp $1, $2\n\tcmova $3, $0"));
        assert!(pure(".p2align 5\n\tnop"));
        assert!(pure("xchgq %rbx, ${1:q}; setne %al; shlq %cl, $0"));
        assert!(pure("addq $$-16, $0 # a comment"));
        for code in [
            "mov ($1), $0",
            "movl $1, ${0:a}",
            "movq %fs:0, $0",
            "mov %rsp, $0",
            "mov $0, %rbp",
            "mov $0, %rdx",
            "mov %cr0, $0",
            "mov counter, $0",
            "bt $2, $1",
            "setssbsy",
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
        for text in ["=*m,r", "*m", "r,!i", "p", "r|m"] {
            assert!(Constraints::of(text).is_none(), "{text}");
        }
        let tied = Constraints::of("={ax},=&{bx},={cx},={dx},0,2").expect("registers");
        assert_eq!(
            (tied.output(1), tied.inputs.as_slice()),
            ("bx", &["0", "2"][..])
        );
    }
}
