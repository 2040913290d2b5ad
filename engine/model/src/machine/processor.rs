//! Instructions whose results differ between processors, or that C has no operator for.
//!
//! The native target runs on the processor that executes the machine, so this processor answers for
//! itself. The results have no terms: what they are made from is made concrete.

use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _mm_cvtss_f32, _mm_rcp_ss, _mm_rsqrt_ss, _mm_set_ss};

use super::outcome::Outcome;
use super::shadow::Shade;
use super::step::{Run, Step};
use crate::operator::{CpuidRegister, ProcessorFn, Width};
use crate::program::ir::{Operand, Reg};

/// The polynomial of CRC-32C, with its bits reversed.
const CASTAGNOLI: u32 = 0x82f6_3b78;
/// The bit of `ecx` of leaf 1 that says that `xgetbv` may be executed (OSXSAVE).
const HAS_XGETBV: u32 = 1 << 27;
/// The control register that `xgetbv` has on every processor that has the instruction.
const XCR0: u32 = 0;

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Executes an instruction. The run ends before one that is not computed.
    pub(super) fn in_processor(
        &mut self,
        (dst, width): (Reg, Width),
        function: ProcessorFn,
        args: &[(Operand, Width)],
    ) -> Step {
        let values: Vec<u128> = args.iter().map(|(a, w)| self.get(*a, *w)).collect();
        let widths: Vec<Width> = args.iter().map(|(_, w)| *w).collect();
        let Some(result) = computed(function, &values, &widths) else {
            let which = match function {
                ProcessorFn::Unknown(which) => which,
                _ => u32::MAX,
            };
            return Err(Box::new(Outcome::Unmodelled(which)));
        };
        let mut shade = Shade::default();
        if TRACK {
            for (i, (a, w)) in args.iter().enumerate() {
                let of = self.shade(*a);
                shade.undefined |= of.undefined;
                if let Some(term) = of.term {
                    self.fixed(term, *w, values[i]);
                }
            }
        }
        self.set_shaded(dst, result & crate::term::value::mask(width), shade);
        Ok(())
    }
}

/// The result of an instruction on this processor.
fn computed(function: ProcessorFn, args: &[u128], widths: &[Width]) -> Option<u128> {
    let word = |i: usize| args.get(i).map(|a| *a as u64);
    Some(match function {
        ProcessorFn::Cpuid(register) => {
            let all = __cpuid_count(word(0)? as u32, word(1)? as u32);
            u128::from(match register {
                CpuidRegister::Eax => all.eax,
                CpuidRegister::Ebx => all.ebx,
                CpuidRegister::Ecx => all.ecx,
                CpuidRegister::Edx => all.edx,
            })
        }
        ProcessorFn::Xgetbv { high } => {
            let (low_word, high_word) = extended_control(word(0)? as u32)?;
            u128::from(if high { high_word } else { low_word })
        }
        ProcessorFn::Reciprocal | ProcessorFn::ReciprocalRoot => {
            let x = f32::from_bits(word(0)? as u32);
            u128::from(estimate(function == ProcessorFn::Reciprocal, x).to_bits())
        }
        ProcessorFn::CarrylessProduct { high } => {
            let product = carryless_product(word(0)?, word(1)?);
            if high { product >> 64 } else { product }
        }
        ProcessorFn::ShuffledByte => {
            let (index, bytes) = args.split_last()?;
            match index & 0x80 {
                0 => *bytes.get((index & 15) as usize)?,
                _ => 0,
            }
        }
        ProcessorFn::Crc32 => u128::from(crc32(word(0)? as u32, word(1)?, *widths.get(1)?)),
        ProcessorFn::Extract => u128::from(extract(word(0)?, word(1)?)),
        ProcessorFn::Deposit => u128::from(deposit(word(0)?, word(1)?)),
        ProcessorFn::Unspecified => *args.first()?,
        ProcessorFn::Unknown(_) => return None,
    })
}

/// `xgetbv`, if the processor has it. Other registers than the first may not exist.
fn extended_control(register: u32) -> Option<(u32, u32)> {
    if __cpuid_count(1, 0).ecx & HAS_XGETBV == 0 || register != XCR0 {
        return None;
    }
    let (low, high): (u32, u32);
    // SAFETY: the processor has the instruction and the register, and it changes `eax` and `edx`
    // only.
    unsafe {
        asm!("xgetbv", in("ecx") register, out("eax") low, out("edx") high,
            options(nomem, nostack, preserves_flags));
    }
    Some((low, high))
}

fn estimate(plain: bool, x: f32) -> f32 {
    // SAFETY: each processor of the x86-64 family has SSE.
    unsafe {
        let x = _mm_set_ss(x);
        _mm_cvtss_f32(if plain {
            _mm_rcp_ss(x)
        } else {
            _mm_rsqrt_ss(x)
        })
    }
}

fn carryless_product(a: u64, b: u64) -> u128 {
    (0..64)
        .filter(|i| b >> i & 1 == 1)
        .fold(0, |product, i| product ^ u128::from(a) << i)
}

/// CRC-32C of the low `width` bits of `data`, from the lowest byte on.
fn crc32(start: u32, data: u64, width: Width) -> u32 {
    (0..width / 8).fold(start, |crc, i| {
        let crc = crc ^ (data >> (8 * i)) as u32 & 0xff;
        (0..8).fold(crc, |crc, _| (crc >> 1) ^ ((crc & 1) * CASTAGNOLI))
    })
}

fn extract(from: u64, mask: u64) -> u64 {
    let places = (0..64).filter(|i| mask >> i & 1 == 1);
    places
        .enumerate()
        .fold(0, |result, (to, i)| result | (from >> i & 1) << to)
}

fn deposit(from: u64, mask: u64) -> u64 {
    let places = (0..64).filter(|i| mask >> i & 1 == 1);
    places
        .enumerate()
        .fold(0, |result, (at, i)| result | (from >> at & 1) << i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_have_their_documented_results() {
        // The check value of CRC-32C.
        let crc = b"123456789"
            .iter()
            .fold(!0, |crc, c| crc32(crc, u64::from(*c), 8));
        assert_eq!(!crc, 0xe306_9283);
        assert_eq!(crc32(7, 0x0807_0605_0403_0201, 64), {
            (1..=8).fold(7, |crc, c| crc32(crc, c, 8))
        });
        assert_eq!(carryless_product(0b11, 0b11), 0b101);
        assert_eq!(carryless_product(1 << 63, 1 << 63), 1 << 126);
        assert_eq!(extract(0xabcd, 0x0ff0), 0xbc);
        assert_eq!(deposit(0xbc, 0x0ff0), 0x0bc0);
        let vendor = computed(ProcessorFn::Cpuid(CpuidRegister::Ebx), &[0, 0], &[32, 32]);
        assert!(vendor.is_some_and(|vendor| vendor != 0));
    }
}
