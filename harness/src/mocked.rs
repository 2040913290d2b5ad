//! Descriptions of undefined functions: the entries of `mocks.json`.
//!
//! The tool writes them, the build generates bodies from them, and a failed test prints its calls
//! with them.

use serde::{Deserialize, Serialize};

use crate::channel::Shape;
use crate::external::codec::CallInput;
use crate::external::{Holds, Inner, ObjectType, Pointee, Signature, Types};
use crate::rules::{Rules, Writes};

/// An undefined function and what its calls can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MockedFunction {
    /// Its name.
    pub name: String,
    /// What it returns.
    #[serde(rename = "return")]
    pub returns: Shape,
    /// The channel of its choices; by default, its name.
    #[serde(default)]
    pub channel: Option<String>,
    /// Whether a returned pointer may be any address.
    #[serde(default, rename = "raw_allowed")]
    pub may_return_any_address: bool,
    /// Its type, if debug information has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// What its result points to, if the user says that this number is an address
    /// ([`Rules::address_of`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Pointee>,
    /// The parameters, from 0, that point to variables for it to fill. It may write pointers there
    /// too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<usize>,
    /// The types that the signature refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<ObjectType>,
    /// What the user says about it.
    #[serde(default, skip_serializing_if = "Rules::is_none")]
    pub rules: Rules,
}

impl MockedFunction {
    /// A function of which only the return type is known.
    pub fn returning(name: &str, returns: Shape) -> Self {
        MockedFunction {
            name: name.to_owned(),
            returns,
            channel: None,
            may_return_any_address: false,
            signature: None,
            address: None,
            outputs: Vec::new(),
            types: Vec::new(),
            rules: Rules::default(),
        }
    }

    /// The functions that objects from outside point to, each as a separate function: `ops.open`.
    pub fn members(&self) -> Vec<MockedFunction> {
        let types = Types(&self.types);
        let mut all = Vec::new();
        for object in &self.types {
            for (offset, inner) in types.plan(object).pointers {
                let Inner::Code(signature) = inner else {
                    continue;
                };
                let name = format!("{}.{}", object.name, types.path(object, offset));
                let returns = match &signature.returns {
                    None => Shape::Void,
                    Some(Holds::Int { size, signed }) => Shape::Int {
                        size: *size,
                        signed: *signed,
                    },
                    Some(Holds::Bool) => Shape::Bool,
                    Some(Holds::Float { size }) => Shape::Float { size: *size },
                    Some(holds) => Shape::Struct {
                        size: types.size(holds),
                    },
                };
                all.push(MockedFunction {
                    signature: Some(signature.clone()),
                    types: self.types.clone(),
                    ..MockedFunction::returning(&name, returns)
                });
            }
        }
        all
    }

    /// Whether it may write pointers to where its parameter number `i` (from 0) points.
    pub fn is_output(&self, i: usize) -> bool {
        self.outputs.contains(&i) || self.rules.writes == Some(Writes::Any(true))
    }

    /// Whether it may write several elements to where its parameter number `i` (from 0) points.
    pub fn writes_rows(&self, i: usize) -> bool {
        match self.rules.written() {
            Ok(Some(extents)) => extents.iter().any(|extent| extent.param == i),
            _ => self
                .signature
                .as_ref()
                .is_some_and(|s| s.count_of(i).is_some()),
        }
    }

    /// Whether its mock does more than return a value from its channel.
    pub fn has_body(&self) -> bool {
        let Some(signature) = &self.signature else {
            return false;
        };
        let pointer = |holds: &Holds| matches!(holds, Holds::Pointer(_) | Holds::Code(_));
        let returns =
            signature.returns.as_ref().is_some_and(pointer) && !self.may_return_any_address;
        returns || signature.params.iter().any(pointer) || !self.rules.is_none()
    }

    /// What a call reads from the channel of its results, or from the channel of a parameter with
    /// this number, from 1. None if that is a plain value or nothing.
    pub fn asked(&self, parameter: Option<usize>) -> Option<CallInput<'_>> {
        let signature = self.signature.as_ref()?;
        let Some(number) = parameter else {
            let pointee = match (&self.address, &signature.returns) {
                (Some(pointee), _) | (None, Some(Holds::Pointer(pointee))) => pointee,
                _ => return None,
            };
            let is_plain = self.may_return_any_address || self.returns_into() || !self.has_body();
            return (!is_plain).then_some(CallInput::Result(pointee));
        };
        let (types, i) = (Types(&self.types), number.checked_sub(1)?);
        match signature.params.get(i)? {
            Holds::Code(callback) => Some(CallInput::Call(callback, signature)),
            Holds::Pointer(pointee) if self.writes_rows(i) => {
                let object = pointee.to.as_deref().and_then(|name| types.get(name));
                Some(CallInput::Elements(object.filter(|object| object.size > 1)))
            }
            holds => types
                .written(holds, self.is_output(i))
                .map(CallInput::Object),
        }
    }

    /// Whether its result points into what a parameter points to.
    pub fn returns_into(&self) -> bool {
        self.rules
            .returned()
            .is_ok_and(|returned| returned.inside.is_some())
    }

    /// The type of its result. It is a pointer if the user says that the result is an address.
    pub fn result(&self) -> Option<Holds> {
        match &self.address {
            Some(pointee) => Some(Holds::Pointer(pointee.clone())),
            None => self.signature.as_ref()?.returns.clone(),
        }
    }

    /// The channel of its results.
    pub fn channel(&self) -> &str {
        self.channel.as_deref().unwrap_or(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mocks_are_read_as_the_tool_writes_them() {
        let text = r#"[{"name":"f","return":{"kind":"void","size":0}},
            {"name":"g","return":{"kind":"int","size":2},"channel":"g"},
            {"name":"h","return":{"kind":"pointer","size":24},"raw_allowed":true}]"#;
        let list: Vec<MockedFunction> = serde_json::from_str(text).expect("json");
        assert_eq!(list[0].returns, Shape::Void);
        assert_eq!(
            list[1].returns,
            Shape::Int {
                size: 2,
                signed: true
            }
        );
        assert_eq!(list[2].returns, Shape::Pointer { size: 24 });
        let back = serde_json::to_string(&list).expect("json");
        assert_eq!(
            serde_json::from_str::<Vec<MockedFunction>>(&back).expect("json"),
            list
        );
    }
}
