//! Writes functions of `scanf`'s kind: after each part, they continue or return the number of
//! assignments so far.

use cegar_llvm::Value;

use super::parse::{Scan, Scanned};
use super::write::{Head, Writer};
use super::{Family, LENGTH, SCANS, STDIN};

impl<'m> Writer<'m> {
    /// Writes a function of `scanf`'s kind. `None` if the library lacks a function that it needs.
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
        let parameters = function.params();
        let none = self.pointer.zero();
        let (from, text) = match family {
            Family::Scan { from } => (self.stream(stdin, from, &parameters)?, none),
            _ => (none, parameters[0]),
        };
        let source = self.local(self.source, "source");
        let (zero, nothing) = (self.number(0), self.int.zero());
        let length = match family {
            Family::ScanText => self.call("strlen", &[text]),
            _ => zero,
        };
        for (field, value) in [from, text, length, zero, nothing].into_iter().enumerate() {
            self.store(self.source, source, field as u32, value);
        }
        let end = self.block(function);
        let mut arguments = parameters[first..].iter().copied();
        for part in parts {
            let goes_on = match part {
                Scanned::Blank => self.call("crunner_scan_blank", &[source]),
                Scanned::Character(byte) => {
                    let byte = self.int.number(u64::from(*byte));
                    self.call("crunner_scan_character", &[source, byte])
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
                    self.call(by, &[source, how, to.unwrap_or(none)])
                }
            };
            let next = self.block(function);
            let goes_on = self.differ(goes_on, nothing);
            self.builder.branch(goes_on, next, end);
            self.builder.move_to_end(next);
        }
        // If everything was read, the function has a return of its own: on this path it is known
        // what was stored, and the result distinguishes the path from the others.
        self.returns_assigned(source);
        self.builder.move_to_end(end);
        self.returns_assigned(source);
        Some(())
    }

    fn returns_assigned(&self, source: Value<'m>) {
        let assigned = self.builder.field(self.source, source, 4);
        self.builder
            .ret(Some(self.builder.load(self.int, assigned)));
    }

    /// A conversion of `scanf`, as a constant.
    fn scanned(&self, scan: &Scan) -> Value<'m> {
        let int = |n: u64| self.int.number(n);
        let fields = [
            self.number(scan.width as u64),
            int(scan.size as u64),
            int(u64::from(scan.suppress)),
            int(u64::from(scan.allocate)),
            int(u64::from(scan.conversion)),
            self.module.constant_bytes(&scan.set),
        ];
        self.constant(self.structure(&fields))
    }
}
