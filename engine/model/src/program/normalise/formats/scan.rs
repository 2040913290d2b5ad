//! Functions of `scanf`'s kind: after each part they go on or return what was assigned so far.

use llvm_sys::prelude::LLVMValueRef;

use super::parse::{Scan, Scanned};
use super::write::{Head, Writer, parameters};
use super::{Family, LENGTH, SCANS, STDIN};
use crate::program::llvm::llvm;

impl<'m> Writer<'m> {
    /// Writes a function of `scanf`'s kind; none if the library does not have what it needs.
    pub(super) fn scan(
        &mut self,
        (name, types, first): Head<'_, 'm>,
        family: Family,
        parts: &[Scanned],
    ) -> Option<()> {
        self.has(SCANS)?;
        if family == Family::ScanText {
            self.has(LENGTH)?;
        }
        let stdin = self.module.global(STDIN);
        let function = self.begin(name, types);
        let parameters = parameters(function);
        let none = llvm!(LLVMConstNull(self.pointer));
        let (from, text) = match family {
            Family::Scan { from } => (self.stream(stdin, from, &parameters)?, none),
            _ => (none, parameters[0]),
        };
        let source = self.local(self.source, c"source");
        let (zero, nothing) = (self.number(0), llvm!(LLVMConstNull(self.int)));
        let length = match family {
            Family::ScanText => self.call("strlen", &mut [text]),
            _ => zero,
        };
        for (field, value) in [from, text, length, zero, nothing].into_iter().enumerate() {
            self.store(self.source, source, field as u32, value);
        }
        let end = self.block(function);
        let mut arguments = parameters[first..].iter().copied();
        for part in parts {
            let goes_on = match part {
                Scanned::Blank => self.call("crunner_scan_blank", &mut [source]),
                Scanned::Character(byte) => {
                    let byte = llvm!(LLVMConstInt(self.int, u64::from(*byte), 0));
                    self.call("crunner_scan_character", &mut [source, byte])
                }
                Scanned::Conversion(scan) => {
                    let by = match scan.conversion {
                        b'c' | b's' | b'[' => "crunner_scan_text",
                        b'n' => "crunner_scan_count",
                        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'p' => "crunner_scan_integer",
                        _ => "crunner_scan_real",
                    };
                    let to = part.stores().then(|| arguments.next()).flatten();
                    let how = self.scanned(scan);
                    self.call(by, &mut [source, how, to.unwrap_or(none)])
                }
            };
            let next = self.block(function);
            let goes_on = self.differ(goes_on, nothing);
            llvm!(LLVMBuildCondBr(self.builder, goes_on, next, end));
            llvm!(LLVMPositionBuilderAtEnd(self.builder, next));
        }
        // Where all was read the function returns on its own: what was stored is known there, and the result tells it from the rest.
        self.returns_assigned(source);
        llvm!(LLVMPositionBuilderAtEnd(self.builder, end));
        self.returns_assigned(source);
        Some(())
    }

    fn returns_assigned(&self, source: LLVMValueRef) {
        let assigned = self.field(self.source, source, 4);
        let name = c"".as_ptr();
        let assigned = llvm!(LLVMBuildLoad2(self.builder, self.int, assigned, name));
        llvm!(LLVMBuildRet(self.builder, assigned));
    }

    /// A conversion of `scanf`, as a constant.
    fn scanned(&self, scan: &Scan) -> LLVMValueRef {
        let int = |n: u64| llvm!(LLVMConstInt(self.int, n, 0));
        let mut fields = [
            self.number(scan.width as u64),
            int(scan.size as u64),
            int(u64::from(scan.suppress)),
            int(u64::from(scan.allocate)),
            int(u64::from(scan.conversion)),
            self.bytes(&scan.set),
        ];
        self.constant(self.structure(&mut fields))
    }
}
