//! Functions that create constants. They panic if a type or a value is not of the documented kind.

use llvm_sys::prelude::LLVMValueRef;

use super::Value;
use crate::raw::llvm;
use crate::types::Type;

fn raw(values: &[Value<'_>]) -> Vec<LLVMValueRef> {
    values.iter().map(|value| value.0).collect()
}

fn are_constants_of<'m>(values: &[Value<'m>], mut types: impl Iterator<Item = Type<'m>>) -> bool {
    let mut values = values.iter();
    values.all(|value| value.is_constant() && types.next() == Some(value.ty()))
}

impl<'m> Type<'m> {
    /// A number of this integer type, truncated to its width.
    pub fn number(self, number: u64) -> Value<'m> {
        assert!(self.is_integer(), "no integer");
        Value::new(llvm!(LLVMConstInt(self.0, number, 0)))
    }

    /// A number of this integer type, from words of 64 bits, the lowest first.
    pub fn number_of_words(self, words: &[u64]) -> Value<'m> {
        assert!(self.is_integer(), "no integer");
        let (count, first) = (words.len() as u32, words.as_ptr());
        let made = llvm!(LLVMConstIntOfArbitraryPrecision(self.0, count, first));
        Value::new(made)
    }

    /// The value of this type with all bits zero.
    pub fn zero(self) -> Value<'m> {
        assert!(self.is_sized(), "no size");
        Value::new(llvm!(LLVMConstNull(self.0)))
    }

    /// The largest unsigned number of this integer type.
    pub fn ones(self) -> Value<'m> {
        assert!(self.is_integer(), "no integer");
        Value::new(llvm!(LLVMConstAllOnes(self.0)))
    }

    /// The poison value of this type.
    pub fn poison(self) -> Value<'m> {
        assert!(self.is_sized(), "no size");
        Value::new(llvm!(LLVMGetPoison(self.0)))
    }

    /// An array of elements of this type.
    pub fn constant_array(self, elements: &[Value<'m>]) -> Value<'m> {
        assert!(are_constants_of(elements, std::iter::repeat(self)), "types");
        let (mut all, len) = (raw(elements), elements.len() as u64);
        Value::new(llvm!(LLVMConstArray2(self.0, all.as_mut_ptr(), len)))
    }

    /// A vector of elements of this type.
    pub fn constant_vector(self, elements: &[Value<'m>]) -> Value<'m> {
        assert!(are_constants_of(elements, std::iter::repeat(self)), "types");
        assert!(!elements.is_empty(), "no elements");
        let (mut all, len) = (raw(elements), elements.len() as u32);
        Value::new(llvm!(LLVMConstVector(all.as_mut_ptr(), len)))
    }

    /// A structure of this type.
    pub fn constant_struct(self, fields: &[Value<'m>]) -> Value<'m> {
        let types = self.fields();
        let is_whole = self.is_struct() && types.len() == fields.len();
        assert!(
            is_whole && are_constants_of(fields, types.into_iter()),
            "types"
        );
        let (mut all, count) = (raw(fields), fields.len() as u32);
        let first = all.as_mut_ptr();
        Value::new(match self.is_literal_struct() {
            false => llvm!(LLVMConstNamedStruct(self.0, first, count)),
            true => {
                let packed = i32::from(self.is_packed());
                llvm!(LLVMConstStructInContext(
                    self.context(),
                    first,
                    count,
                    packed
                ))
            }
        })
    }
}

impl<'m> Value<'m> {
    /// The address of the byte at offset `at` of a global variable, as a constant.
    pub fn byte_address(self, at: u64) -> Value<'m> {
        assert!(self.is_global_variable(), "no global variable");
        let mut index = [self.ty().int_beside(64).number(at).0];
        let (byte, first) = (self.ty().int_beside(8), index.as_mut_ptr());
        Value::new(llvm!(LLVMConstInBoundsGEP2(byte.0, self.0, first, 1)))
    }
}
