//! New instructions.

use super::*;

/// Inserts instructions at one place.
pub(crate) struct Builder<'m> {
    pub(super) raw: LLVMBuilderRef,
    pub(super) ir: Ir<'m>,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: created by LLVMCreateBuilderInContext, disposed once.
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}

const NO_NAME: *const std::ffi::c_char = CStr::as_ptr(c"");

// SAFETY (of every block below): operands are live values of the builder's module, of the types that the
// built instruction wants; the callers in this folder see to it.
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all, above"
)]
impl<'m> Builder<'m> {
    fn wrap(&self, raw: LLVMValueRef) -> Value<'m> {
        self.ir.value(raw)
    }

    pub fn load(&self, ty: Type<'m>, from: Value<'m>) -> Value<'m> {
        self.wrap(unsafe { LLVMBuildLoad2(self.raw, ty.0, from.0, NO_NAME) })
    }

    pub fn store(&self, value: Value<'m>, to: Value<'m>) -> Value<'m> {
        self.wrap(unsafe { LLVMBuildStore(self.raw, value.0, to.0) })
    }

    pub fn call(&self, (f, ty): (Value<'m>, Type<'m>), args: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<LLVMValueRef> = args.iter().map(|a| a.0).collect();
        self.wrap(unsafe {
            LLVMBuildCall2(
                self.raw,
                ty.0,
                f.0,
                raw.as_mut_ptr(),
                raw.len() as u32,
                NO_NAME,
            )
        })
    }

    pub fn memset(&self, to: Value<'m>, byte: u8, len: Value<'m>) {
        let byte = self.ir.constant(8, u64::from(byte));
        unsafe { LLVMBuildMemSet(self.raw, to.0, byte.0, len.0, 1) };
    }

    pub fn mul(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        self.wrap(unsafe { LLVMBuildMul(self.raw, a.0, b.0, NO_NAME) })
    }

    /// Zero-extends or truncates an integer.
    pub fn resize(&self, a: Value<'m>, width: u32, signed: bool) -> Value<'m> {
        self.wrap(unsafe {
            LLVMBuildIntCast2(
                self.raw,
                a.0,
                self.ir.int(width).0,
                i32::from(signed),
                NO_NAME,
            )
        })
    }

    pub fn bitcast(&self, a: Value<'m>, ty: Type<'m>) -> Value<'m> {
        self.wrap(unsafe { LLVMBuildBitCast(self.raw, a.0, ty.0, NO_NAME) })
    }
}
