//! Constants: their bit patterns as operands and their bytes in memory.
//!
//! Addresses of globals, functions and labels are constants of the Program, so a constant
//! expression over them is simply evaluated.

use cegar_llvm::{BasicBlock, LLVMOpcode, LLVMValueKind, Layout, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::types::Types;
use crate::program::ir::Operand;
use crate::program::ir::numbers::{DYNAMIC_OBJECTS, object_and_offset, place_of};

/// The addresses of everything that has one before the program starts.
pub(crate) struct Constants<'m> {
    layout: Layout<'m>,
    globals: FxHashMap<Value<'m>, u64>,
    blocks: FxHashMap<BasicBlock<'m>, u64>,
    /// Variables whose initial values cannot be evaluated, and why. Code must not name them.
    vague: FxHashMap<Value<'m>, String>,
    /// The numbers of the objects that have an address before the program starts.
    numbers: FxHashSet<u32>,
}

/// How many objects that are made at run time get addresses that no number in the program equals.
const FEW: u32 = 1 << 12;

impl<'m> Constants<'m> {
    pub(crate) fn new(layout: Layout<'m>) -> Constants<'m> {
        Constants {
            layout,
            globals: FxHashMap::default(),
            blocks: FxHashMap::default(),
            vague: FxHashMap::default(),
            numbers: FxHashSet::default(),
        }
    }

    /// Whether a number in the program equals an address of this numbering. It is none on the
    /// platform, so that nothing may be said about it.
    fn is_taken(&self, bits: u128) -> bool {
        let Ok(bits) = u64::try_from(bits) else {
            return false;
        };
        let number = number(bits);
        number != 0
            && (self.numbers.contains(&number)
                || (DYNAMIC_OBJECTS..DYNAMIC_OBJECTS + FEW).contains(&place_of(number)))
    }

    pub(crate) fn add_global(&mut self, value: Value<'m>, address: u64) {
        self.numbers.insert(number(address));
        self.globals.insert(value, address);
    }

    /// Makes a variable one that code must not name.
    pub(crate) fn add_vague(&mut self, value: Value<'m>, reason: String) {
        self.vague.insert(value, reason);
    }

    pub(crate) fn is_vague(&self, value: Value<'m>) -> bool {
        self.vague.contains_key(&value)
    }

    pub(crate) fn add_block(&mut self, block: BasicBlock<'m>, address: u64) {
        self.numbers.insert(number(address));
        self.blocks.insert(block, address);
    }

    /// The flattened value of a constant. The error names what is not modelled.
    pub(crate) fn operands(
        &self,
        types: &mut Types<'m>,
        value: Value<'m>,
    ) -> Result<Vec<Operand>, String> {
        let ty = value.ty();
        if value.is_undef() {
            return Ok(vec![Operand::Undef; types.count(ty)? as usize]);
        }
        if value.is_null() {
            return Ok(vec![Operand::Const(0); types.count(ty)? as usize]);
        }
        if let Some(n) = elements(ty) {
            let mut all = Vec::new();
            for i in 0..n {
                let Some(element) = value.element(i) else {
                    return Err(format!("constant {}", value.text()));
                };
                all.extend(self.operands(types, element)?);
            }
            return Ok(all);
        }
        types.leaves(ty)?;
        self.scalar(value).map(|v| vec![Operand::constant(v)])
    }

    /// Writes a constant's bytes into `to`, which is zeroed and has the size of the constant's
    /// type. Undefined parts stay zero. The error names a part that is not modelled.
    pub(crate) fn write(&self, value: Value<'m>, to: &mut [u8]) -> Result<(), String> {
        if value.is_undef() || value.is_null() {
            return Ok(());
        }
        let ty = value.ty();
        if let Some(bytes) = value.bytes() {
            let n = bytes.len().min(to.len());
            to[..n].copy_from_slice(&bytes[..n]);
            return Ok(());
        }
        if let Some(numbers) = value.numbers() {
            let bytes = ty.element().int_width().unwrap_or(8) as usize / 8;
            for (part, number) in to.chunks_exact_mut(bytes).zip(numbers) {
                if self.is_taken(number.into()) {
                    return Err(format!("the number {number:#x}, which equals an address"));
                }
                part.copy_from_slice(&number.to_le_bytes()[..bytes]);
            }
            return Ok(());
        }
        if let Some(n) = elements(ty) {
            for i in 0..n {
                let Some(element) = value.element(i) else {
                    continue;
                };
                let at = if ty.is_struct() {
                    self.layout.field_offset(ty, i)
                } else if ty.is_vector() {
                    u64::from(i) * self.layout.bits(ty.element()) / 8
                } else {
                    u64::from(i) * self.layout.size(ty.element())
                } as usize;
                let len = self.layout.store_size(element.ty()) as usize;
                if let Some(part) = to.get_mut(at..at + len) {
                    self.write(element, part)?;
                }
            }
            return Ok(());
        }
        if ty.int_width().is_some_and(|width| width > 128) {
            return Err(format!("constant {}", value.text()));
        }
        let bytes = self.scalar(value)?.to_le_bytes();
        let n = to.len().min(bytes.len());
        to[..n].copy_from_slice(&bytes[..n]);
        Ok(())
    }

    /// The bits of a scalar constant.
    pub(crate) fn scalar(&self, value: Value<'m>) -> Result<u128, String> {
        if value.is_undef() || value.is_null() {
            return Ok(0);
        }
        if let Some(reason) = self.vague.get(&value) {
            return Err(reason.clone());
        }
        if let Some(address) = self.globals.get(&value) {
            return Ok(u128::from(*address));
        }
        let unknown = || Err(format!("constant {}", value.text()));
        match value.kind() {
            LLVMValueKind::LLVMConstantIntValueKind => {
                let bits = integer(value)?;
                match self.is_taken(bits) {
                    true => Err(far(value)),
                    false => Ok(bits),
                }
            }
            LLVMValueKind::LLVMConstantFPValueKind => {
                let bits = self.layout.bits(value.ty()) as u32;
                let same = value.constant_bits(value.ty().int_beside(bits));
                if same.kind() == LLVMValueKind::LLVMConstantIntValueKind {
                    integer(same)
                } else {
                    unknown()
                }
            }
            LLVMValueKind::LLVMGlobalAliasValueKind => match value.aliasee() {
                Some(aliasee) => self.scalar(aliasee),
                None => unknown(),
            },
            LLVMValueKind::LLVMBlockAddressValueKind => {
                let address = value.addressed_block().and_then(|b| self.blocks.get(&b));
                let address = address.map(|a| u128::from(*a));
                address.ok_or_else(|| value.text())
            }
            _ => match value.const_opcode() {
                Some(opcode) => self.expression(value, opcode),
                None => unknown(),
            },
        }
    }

    fn expression(&self, value: Value<'m>, opcode: LLVMOpcode) -> Result<u128, String> {
        let width = self.layout.bits(value.ty()) as u32;
        let mask = if width >= 128 {
            u128::MAX
        } else {
            (1 << width) - 1
        };
        let operand = |i| self.scalar(value.operand(i));
        let result = match opcode {
            LLVMOpcode::LLVMGetElementPtr => {
                let base = operand(0)? as u64;
                let sum = base.wrapping_add(self.gep_offset(value)? as u64);
                near(base, 0, sum).ok_or_else(|| far(value))?
            }
            // The lower bits of an address depend on the platform.
            LLVMOpcode::LLVMPtrToInt | LLVMOpcode::LLVMTrunc => match operand(0)? {
                address if width < 64 && number(address as u64) != 0 => return Err(far(value)),
                address => address,
            },
            // An integer literal may equal an object's address in this numbering, but it leads to
            // no object on the platform.
            LLVMOpcode::LLVMIntToPtr => match operand(0)? {
                made if number(made as u64) != 0
                    && value.operand(0).kind() == LLVMValueKind::LLVMConstantIntValueKind =>
                {
                    return Err(far(value));
                }
                address => address,
            },
            LLVMOpcode::LLVMAddrSpaceCast => return Err(far(value)),
            LLVMOpcode::LLVMBitCast => operand(0)?,
            LLVMOpcode::LLVMAdd => {
                let (a, b) = (operand(0)?, operand(1)?);
                near(a as u64, b as u64, a.wrapping_add(b) as u64).ok_or_else(|| far(value))?
            }
            // The difference of two objects' addresses is arbitrary.
            LLVMOpcode::LLVMSub => {
                let (a, b) = (operand(0)?, operand(1)?);
                let sum = a.wrapping_sub(b);
                let (of, from) = (number(a as u64), number(b as u64));
                match of == from || from == 0 && of == number(sum as u64) {
                    true => sum,
                    false => return Err(far(value)),
                }
            }
            // LLVM folds both for plain numbers, so an operand is made from an address.
            LLVMOpcode::LLVMMul | LLVMOpcode::LLVMXor => return Err(far(value)),
            _ => return Err(format!("constant {}", value.text())),
        };
        Ok(result & mask)
    }

    fn gep_offset(&self, value: Value<'m>) -> Result<i64, String> {
        let mut ty = value.gep_source();
        let mut offset = 0i64;
        for i in 1..value.operand_count() {
            let index = value.operand(i);
            let width = self.layout.bits(index.ty()) as u32;
            let raw = self.scalar(index)?;
            let signed = ((raw << (128 - width)) as i128 >> (128 - width)) as i64;
            if i == 1 {
                offset = signed
                    .checked_mul(self.layout.size(ty) as i64)
                    .and_then(|by| offset.checked_add(by))
                    .ok_or_else(|| far(value))?;
            } else if ty.is_struct() {
                offset = offset.wrapping_add(self.layout.field_offset(ty, signed as u32) as i64);
                ty = ty.fields()[signed as usize];
            } else {
                ty = ty.element();
                offset = signed
                    .checked_mul(self.layout.size(ty) as i64)
                    .and_then(|by| offset.checked_add(by))
                    .ok_or_else(|| far(value))?;
            }
        }
        Ok(offset)
    }
}

/// The number of the object that an address leads to; 0 if it leads to none.
fn number(address: u64) -> u32 {
    object_and_offset(address).0
}

/// The sum, unless it leads to an object other than that of its operands.
fn near(a: u64, b: u64, sum: u64) -> Option<u128> {
    let owner = number(a).max(number(b));
    (number(sum) == owner).then_some(u128::from(sum))
}

fn far(value: Value<'_>) -> String {
    format!(
        "a constant that depends on where objects lie: {}",
        value.text()
    )
}

/// The number of elements of an aggregate or vector.
fn elements(ty: Type<'_>) -> Option<u32> {
    use cegar_llvm::LLVMTypeKind::*;
    match ty.kind() {
        LLVMStructTypeKind => Some(ty.fields().len() as u32),
        LLVMArrayTypeKind => Some(ty.array_len() as u32),
        LLVMVectorTypeKind => Some(ty.vector_len()),
        _ => None,
    }
}

/// The bits of a `ConstantInt` of any width. LLVM's C interface can only print integers above 64
/// bits.
fn integer(value: Value<'_>) -> Result<u128, String> {
    if let Some(small) = value.const_int() {
        return Ok(u128::from(small));
    }
    let width = value.ty().int_width().unwrap_or(0);
    let text = value.text();
    let digits = text.rsplit(' ').next().unwrap_or_default();
    let parsed = digits
        .parse::<i128>()
        .map(|v| v as u128)
        .or_else(|_| digits.parse::<u128>());
    match parsed {
        Ok(bits) if width >= 128 => Ok(bits),
        Ok(bits) => Ok(bits & ((1 << width) - 1)),
        Err(_) => Err(format!("constant {text}")),
    }
}
