//! Attributes of functions and of calls.

use llvm_sys::LLVMAttributeFunctionIndex;
use llvm_sys::prelude::LLVMAttributeRef;

use super::Value;
use crate::raw::{lent, llvm};
use crate::types::Type;

/// The part of a function or a call to which an attribute belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The function or the call as a whole.
    Function,
    /// The result.
    Result,
    /// A parameter or an argument, by its index from 0.
    Parameter(u32),
}

impl Place {
    pub(super) fn index(self) -> u32 {
        match self {
            Place::Function => LLVMAttributeFunctionIndex,
            Place::Result => 0,
            Place::Parameter(number) => number + 1,
        }
    }
}

/// LLVM's number for an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttributeKind(pub(super) u32);

impl AttributeKind {
    /// The attribute of this name, if LLVM has it.
    pub fn named(name: &str) -> Option<AttributeKind> {
        let (data, len) = (name.as_ptr().cast(), name.len());
        match llvm!(LLVMGetEnumAttributeKindForName(data, len)) {
            0 => None,
            kind => Some(AttributeKind(kind)),
        }
    }
}

impl<'m> Value<'m> {
    /// An attribute of a function or a call.
    fn found(self, place: Place, name: &str) -> Option<LLVMAttributeRef> {
        let AttributeKind(kind) = AttributeKind::named(name)?;
        let index = place.index();
        let found = if self.is_any_call() {
            llvm!(LLVMGetCallSiteEnumAttribute(self.0, index, kind))
        } else if self.is_function() {
            llvm!(LLVMGetEnumAttributeAtIndex(self.0, index, kind))
        } else {
            return None;
        };
        (!found.is_null()).then_some(found)
    }

    /// Whether a function or a call has this attribute.
    pub fn has_attribute(self, place: Place, name: &str) -> bool {
        self.found(place, name).is_some()
    }

    /// The numeric value of an attribute of a function or a call.
    pub fn attribute_number(self, place: Place, name: &str) -> Option<u64> {
        let found = self.found(place, name)?;
        (!is_type(found)).then(|| llvm!(LLVMGetEnumAttributeValue(found)))
    }

    /// The type value of an attribute of a function or a call.
    pub fn attribute_type(self, place: Place, name: &str) -> Option<Type<'m>> {
        let found = self.found(place, name)?;
        is_type(found).then(|| Type::new(llvm!(LLVMGetTypeAttributeValue(found))))
    }

    /// The value of a function's string attribute of this name.
    pub fn string_attribute(self, name: &str) -> Option<String> {
        if !self.is_function() {
            return None;
        }
        let (data, len) = (name.as_ptr().cast(), name.len() as u32);
        let whole = LLVMAttributeFunctionIndex;
        let found = llvm!(LLVMGetStringAttributeAtIndex(self.0, whole, data, len));
        if found.is_null() {
            return None;
        }
        let mut len = 0;
        let data = llvm!(LLVMGetStringAttributeValue(found, &mut len));
        Some(lent(data, len as usize))
    }
}

fn is_type(attribute: LLVMAttributeRef) -> bool {
    llvm!(LLVMIsTypeAttribute(attribute)) != 0
}
