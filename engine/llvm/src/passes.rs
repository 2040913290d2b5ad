//! LLVM's passes, by name, and the target machine that some of them need.

use std::ffi::CStr;
use std::ptr;

use llvm_sys::target_machine::{
    LLVMCodeGenOptLevel, LLVMCodeModel, LLVMRelocMode, LLVMTargetMachineRef,
};

use crate::module::{LlvmError, Module};
use crate::raw::{given, holds, lent_to_nul, llvm, terminated};

/// A target machine: the processor for which code is generated.
pub struct Machine(LLVMTargetMachineRef);

impl Drop for Machine {
    fn drop(&mut self) {
        llvm!(LLVMDisposeTargetMachine(self.0));
    }
}

impl Machine {
    /// The target machine for a module: a processor of the x86-64 family.
    pub fn x86_64(module: &Module) -> Result<Machine, LlvmError> {
        llvm!(LLVMInitializeX86TargetInfo());
        llvm!(LLVMInitializeX86Target());
        llvm!(LLVMInitializeX86TargetMC());
        // LLVM owns the text.
        let triple = llvm!(LLVMGetTarget(module.raw()));
        let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
        let failed = llvm!(LLVMGetTargetFromTriple(triple, &mut target, &mut message));
        let message = given(message);
        if holds(failed) {
            return Err(LlvmError(message));
        }
        let machine = llvm!(LLVMCreateTargetMachine(
            target,
            triple,
            c"x86-64".as_ptr(),
            c"".as_ptr(),
            LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            LLVMRelocMode::LLVMRelocPIC,
            LLVMCodeModel::LLVMCodeModelDefault,
        ));
        let triple = lent_to_nul(triple).unwrap_or_default();
        match machine.is_null() {
            true => Err(LlvmError(format!("no code generator for {triple}"))),
            false => Ok(Machine(machine)),
        }
    }
}

impl Module {
    /// Runs a pipeline of passes, such as `function(sroa,mem2reg)`. Handles to what they remove are
    /// invalid afterwards.
    pub fn run_passes(&self, passes: &str, machine: Option<&Machine>) -> Result<(), LlvmError> {
        let passes = terminated(passes);
        let machine = machine.map_or(ptr::null_mut(), |machine| machine.0);
        let options = llvm!(LLVMCreatePassBuilderOptions());
        let error = llvm!(LLVMRunPasses(self.raw(), passes.as_ptr(), machine, options));
        llvm!(LLVMDisposePassBuilderOptions(options));
        if error.is_null() {
            return Ok(());
        }
        // Taking the message consumes the error.
        let message = llvm!(LLVMGetErrorMessage(error));
        let text = lent_to_nul(message).unwrap_or_default();
        llvm!(LLVMDisposeErrorMessage(message));
        Err(LlvmError(text))
    }
}

/// Sets options of LLVM's command-line parser, of which there is one per process. LLVM ends the
/// process if an option is unknown or is set twice.
pub fn set_options(options: &[&CStr]) {
    let mut words = vec![c"cegar".as_ptr()];
    words.extend(options.iter().map(|option| option.as_ptr()));
    let (count, first) = (words.len() as i32, words.as_ptr());
    llvm!(LLVMParseCommandLineOptions(count, first, c"".as_ptr()));
}
