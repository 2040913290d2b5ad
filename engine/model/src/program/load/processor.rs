//! Instructions of the processor: what `<immintrin.h>` becomes, and assembly that only computes.
//!
//! The instructions whose results programs use as indices and conditions are written out in
//! operations (`simd`). The result of any other instruction that only computes is an
//! [`Op::Processor`]: any value for a proof; the machine has the processor's own, or ends.
//! Instructions that access memory stay unmodelled, apart from an unaligned load.

use cegar_llvm::{Place, Value};

use super::body::{Body, Operands};
use super::simd::changed;
use crate::program::ir::*;

/// The bits of a vector register of the smallest kind. Wider instructions work on each such part.
pub(super) const PART: Width = 128;

impl<'m> Body<'_, 'm> {
    /// Translates a call of `llvm.x86.NAME`.
    pub(super) fn processor_intrinsic(
        &mut self,
        value: Value<'m>,
        name: &str,
    ) -> Result<(), String> {
        let plain = ["128", "256", "512"]
            .iter()
            .find_map(|size| name.strip_suffix(size)?.strip_suffix('.'));
        let name = plain.unwrap_or(name);
        let (unit, name) = name.split_once('.').unwrap_or(("", name));
        match name {
            // They change nothing that a C program sees.
            "sfence" | "lfence" | "mfence" | "pause" | "vzeroupper" | "vzeroall" | "emms" => Ok(()),
            "ldu.dq" => self.load(value),
            "rcp.ps" | "rcp.ss" => self.estimates(value, name, ProcessorFn::Reciprocal),
            "rsqrt.ps" | "rsqrt.ss" => self.estimates(value, name, ProcessorFn::ReciprocalRoot),
            "pclmulqdq" => self.carryless_product(value),
            "pshuf.b" if unit.ends_with("sse3") || unit == "avx2" => self.shuffled_bytes(value),
            "pext.32" | "pext.64" => self.computed(value, ProcessorFn::Extract),
            "pdep.32" | "pdep.64" => self.computed(value, ProcessorFn::Deposit),
            "crc32.32.8" | "crc32.32.16" | "crc32.32.32" | "crc32.64.64" => {
                self.computed(value, ProcessorFn::Crc32)
            }
            "rdtsc" => self.unknown(value, "llvm.x86.rdtsc"),
            _ => match self.simd(value, name) {
                Some(done) => done,
                None => self.any_result(value),
            },
        }
    }

    /// The result of a call that accesses no memory is any value, and the machine does not know it.
    fn any_result(&mut self, value: Value<'m>) -> Result<(), String> {
        let callee = value.callee();
        if callee.attribute_number(Place::Function, "memory") != Some(0) {
            return Err(callee.name());
        }
        self.unknown(value, &callee.name())
    }

    /// Results that are any values. The machine ends the run here, and names `what`.
    pub(super) fn unknown(&mut self, value: Value<'m>, what: &str) -> Result<(), String> {
        let args = self.all_sized(value)?;
        let which = self.name_construct(what.to_owned());
        self.results(value, &args, |_| ProcessorFn::Unknown(which))
    }

    /// The lanes of all arguments of a call with their widths.
    fn all_sized(&mut self, value: Value<'m>) -> Result<Vec<(Operand, Width)>, String> {
        let mut all = Vec::new();
        for argument in value.arguments() {
            all.extend(self.sized(argument)?);
        }
        Ok(all)
    }

    /// The lanes of an operand with their widths.
    pub(super) fn sized(&mut self, operand: Value<'m>) -> Result<Vec<(Operand, Width)>, String> {
        let leaves = self.loader.types.leaves(operand.ty())?;
        let widths = leaves.iter().map(|leaf| leaf.width);
        Ok(self.operands(operand)?.into_iter().zip(widths).collect())
    }

    /// Emits an operation for each part of the result, by the part's index.
    pub(super) fn results(
        &mut self,
        value: Value<'m>,
        args: &[(Operand, Width)],
        function: impl Fn(usize) -> ProcessorFn,
    ) -> Result<(), String> {
        let leaves = self.loader.types.leaves(value.ty())?;
        if leaves.is_empty() {
            return Ok(());
        }
        let (first, _) = self.place(value)?;
        for (i, leaf) in leaves.iter().enumerate() {
            self.emit(Op::Processor {
                dst: Reg(first.0 + i as u32),
                width: leaf.width,
                function: function(i),
                args: args.into(),
            });
        }
        Ok(())
    }

    /// A scalar function of all operands.
    fn computed(&mut self, value: Value<'m>, function: ProcessorFn) -> Result<(), String> {
        let args = self.all_sized(value)?;
        self.results(value, &args, |_| function)
    }

    fn in_processor(
        &mut self,
        width: Width,
        function: ProcessorFn,
        args: &[(Operand, Width)],
    ) -> Operand {
        let dst = self.temporary(width);
        self.emit(Op::Processor {
            dst,
            width,
            function,
            args: args.into(),
        });
        Operand::Reg(dst)
    }

    /// An estimate for each lane, or for the first one only (`.ss`).
    fn estimates(
        &mut self,
        value: Value<'m>,
        name: &str,
        function: ProcessorFn,
    ) -> Result<(), String> {
        let mut lanes = self.operands(value.operand(0))?;
        let changed = changed(name, &lanes);
        for lane in lanes.iter_mut().take(changed) {
            *lane = self.in_processor(32, function, &[(*lane, 32)]);
        }
        self.give(value, lanes)
    }

    /// `pclmulqdq`: the immediate operand chooses one word of each operand's pair.
    fn carryless_product(&mut self, value: Value<'m>) -> Result<(), String> {
        let (a, b) = (
            self.operands(value.operand(0))?,
            self.operands(value.operand(1))?,
        );
        let chosen = value.operand(2).const_int().ok_or("pclmulqdq")? as usize;
        let mut lanes = Operands::new();
        for (a, b) in a.chunks(2).zip(b.chunks(2)) {
            let args = [(a[chosen & 1], 64), (b[chosen >> 4 & 1], 64)];
            for high in [false, true] {
                let function = ProcessorFn::CarrylessProduct { high };
                lanes.push(self.in_processor(64, function, &args));
            }
        }
        self.give(value, lanes)
    }

    /// `pshufb`: each byte of the second operand chooses a byte of the first one, or 0.
    fn shuffled_bytes(&mut self, value: Value<'m>) -> Result<(), String> {
        let (from, by) = (self.sized(value.operand(0))?, self.sized(value.operand(1))?);
        let mut lanes = Operands::new();
        let part = usize::from(PART / 8);
        for (from, by) in from.chunks(part).zip(by.chunks(part)) {
            for index in by {
                // Most programs have a fixed pattern.
                if let (Operand::Const(index), _) = index {
                    let chosen = from.get((index & 15) as usize).map(|(byte, _)| *byte);
                    let byte = chosen.filter(|_| index & 0x80 == 0);
                    lanes.push(byte.unwrap_or(Operand::Const(0)));
                    continue;
                }
                let mut args = from.to_vec();
                args.push(*index);
                lanes.push(self.in_processor(8, ProcessorFn::ShuffledByte, &args));
            }
        }
        self.give(value, lanes)
    }
}
