//! Answers of the undefined functions: what they return, write and call back.

use super::Mock;
use crate::channel::Shape;
use crate::external::codec::{SET, Selector};
use crate::external::{Holds, ObjectType, Types};
use crate::object;
use crate::value::Scalar;

impl Mock {
    /// Sets the results of the function `name`, call by call. Later calls return zero. Also for
    /// `int`, `__VERIFIER_nondet_int` and the other channels of numbers.
    ///
    /// # Panics
    /// If a value does not have the function's return type, which is a mistake in the test.
    pub fn returns<T: Scalar>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        let shape = self.shape(name);
        let mut bytes = Vec::new();
        for value in values {
            match value.value().encode(shape) {
                Ok(encoded) => bytes.extend(encoded),
                Err(unfit) => panic!("`{name}` cannot return {}: {unfit}", value.value()),
            }
        }
        self.choices(name, bytes)
    }

    /// The function `name` returns NULL.
    pub fn returns_null(self, name: &str) -> Self {
        self.choices(name, [Selector::Null.byte()])
    }

    /// The function `name` returns a pointer to a fresh object with these contents: a structure of
    /// [`c_structs!`](crate::c_structs) or of bindgen. Its pointers are made with
    /// [`object`](crate::object()) and its siblings. If the type of the object is unknown, it is
    /// passed byte by byte, and what it lacks is taken from what the queue holds next.
    ///
    /// # Panics
    /// If it does not have the type that the function returns, which is a mistake in the test.
    pub fn returns_object<T: Copy>(self, name: &str, object: T) -> Self {
        self.returns_objects(name, [object])
    }

    /// The function `name` returns a pointer to an array of fresh objects.
    ///
    /// # Panics
    /// If they do not have the type that the function returns, which is a mistake in the test.
    pub fn returns_objects<T: Copy>(self, name: &str, row: impl IntoIterator<Item = T>) -> Self {
        let row: Vec<T> = row.into_iter().collect();
        let bytes = object::bytes_of(&row);
        self.returns_fresh(name, bytes, Some(size_of::<T>()))
    }

    fn returns_fresh(self, name: &str, bytes: Vec<u8>, size: Option<usize>) -> Self {
        let Some((types, Holds::Pointer(pointee))) = self.typed(name) else {
            let selector = Selector::Fresh(0).byte();
            return self.choices(name, [&[selector], &bytes[..]].concat());
        };
        let types = Types(&types);
        let size = size.unwrap_or(types.target(&pointee).size);
        match object::encode(types, &pointee, bytes, size) {
            Ok(encoded) => self.choices(name, encoded),
            Err(why) => panic!("`{name}` cannot return this: {why}"),
        }
    }

    /// The function `name` returns a pointer to this element of what one of its parameters points
    /// to, as its rule `into` says.
    pub fn returns_into(self, name: &str, element: u64) -> Self {
        self.choices(name, [&[SET], &element.to_le_bytes()[..]].concat())
    }

    /// The type of what a typed function returns (`name`), or of its parameter number n, from 1
    /// (`name:n`).
    pub(super) fn typed(&self, channel: &str) -> Option<(Vec<ObjectType>, Holds)> {
        let functions = &self.runner.as_ref().ok()?.functions;
        let (name, parameter) = match channel.rsplit_once(':') {
            Some((name, number)) => (name, Some(number.parse::<usize>().ok()?)),
            None => (channel, None),
        };
        let function = functions.iter().find(|f| f.channel() == name)?;
        let signature = function.signature.as_ref()?;
        let holds = match parameter {
            None => function.result()?,
            Some(number) => signature.params.get(number.checked_sub(1)?)?.clone(),
        };
        (!function.may_return_any_address).then(|| (function.types.clone(), holds))
    }

    /// The function `name` writes this value to where its parameter number `parameter`, from 1,
    /// points: one element, or an array of as many elements as the caller asks for.
    ///
    /// # Panics
    /// If the parameter points to something of another size, which is a mistake in the test.
    pub fn writes<T: Copy>(self, name: &str, parameter: usize, value: T) -> Self {
        let channel = format!("{name}:{parameter}");
        let mut bytes = object::bytes_of(&[value]);
        let functions = self.runner.as_ref().map(|runner| &runner.functions);
        let function = functions
            .ok()
            .and_then(|all| all.iter().find(|f| f.channel() == name));
        let rows = function.is_some_and(|f| f.writes_rows(parameter.saturating_sub(1)));
        if let Some((types, Holds::Pointer(pointee))) = self.typed(&channel) {
            let types = Types(&types);
            let object = types.target(&pointee);
            // A buffer may get any number of whole elements.
            let fits = match rows {
                true => bytes.len().is_multiple_of(object.size.max(1)),
                false => object.size == bytes.len(),
            };
            if !fits && object.size > 1 && pointee.to.is_some() {
                panic!(
                    "`{name}` writes {} bytes to its parameter {parameter}, not {}",
                    object.size,
                    bytes.len()
                );
            }
            if !rows && !types.plan(object).pointers.is_empty() {
                match object::encode_object(types, object, bytes) {
                    Ok(encoded) => bytes = encoded,
                    Err(why) => panic!("`{name}` cannot write this: {why}"),
                }
            }
        }
        self.choices(&channel, [&[SET], &bytes[..]].concat())
    }

    /// The function `name` calls back its parameter number `parameter`, from 1, with these numbers.
    /// A `void *` is left out, since it gets the parameter beside the callback.
    pub fn calls_back<T: Scalar>(
        self,
        name: &str,
        parameter: usize,
        arguments: impl IntoIterator<Item = T>,
    ) -> Self {
        let channel = format!("{name}:{parameter}");
        let mut bytes = vec![SET];
        if let Some((types, Holds::Code(callback))) = self.typed(&channel) {
            let numbers = callback
                .params
                .iter()
                .filter(|holds| !matches!(holds, Holds::Pointer(_) | Holds::Code(_)));
            for (holds, value) in numbers.zip(arguments) {
                let shape = match holds {
                    Holds::Int { size, signed } => Shape::Int {
                        size: *size,
                        signed: *signed,
                    },
                    Holds::Bool => Shape::Bool,
                    Holds::Float { size } => Shape::Float { size: *size },
                    other => Shape::Struct {
                        size: Types(&types).size(other),
                    },
                };
                match value.value().encode(Some(shape)) {
                    Ok(encoded) => bytes.extend(encoded),
                    Err(unfit) => panic!("`{name}` cannot hand over {}: {unfit}", value.value()),
                }
            }
        }
        self.choices(&channel, bytes)
    }

    /// The function `name` calls back its parameter number `parameter`, from 1, which takes no
    /// numbers.
    pub fn calls(self, name: &str, parameter: usize) -> Self {
        self.choices(&format!("{name}:{parameter}"), [SET])
    }

    /// The function `name` returns this structure by value.
    ///
    /// # Panics
    /// If it returns something of another size, which is a mistake in the test.
    pub fn returns_value<T: Copy>(self, name: &str, value: T) -> Self {
        let bytes = object::bytes_of(&[value]);
        if let Some(Shape::Struct { size }) = self.shape(name)
            && size != bytes.len()
        {
            panic!("`{name}` returns {size} bytes, not {}", bytes.len());
        }
        self.choices(name, bytes)
    }

    /// The function `name` does not call back its parameter number `parameter` again in this call.
    pub fn calls_no_more(self, name: &str, parameter: usize) -> Self {
        self.choices(&format!("{name}:{parameter}"), [0])
    }

    /// In its next call, the function `name` does not write to where its parameter number
    /// `parameter` points.
    pub fn leaves(self, name: &str, parameter: usize) -> Self {
        self.choices(&format!("{name}:{parameter}"), [0])
    }

    /// The function `name` returns a pointer to a fresh object with these bytes.
    ///
    /// # Panics
    /// If it is known to return something else, which is a mistake in the test.
    pub fn returns_bytes(self, name: &str, object: impl AsRef<[u8]>) -> Self {
        self.returns_fresh(name, object.as_ref().to_vec(), None)
    }

    /// The function `name` returns an object that it, or another function, returned before: 0 for
    /// the latest.
    pub fn returns_earlier(self, name: &str, back: u8) -> Self {
        self.choices(name, [Selector::Earlier(back).byte()])
    }

    /// The function `name` returns this raw address as a pointer (for programs that compute with
    /// addresses).
    pub fn returns_address(self, name: &str, address: u64) -> Self {
        let mut bytes = vec![Selector::Earlier(0).byte()];
        bytes.extend(address.to_le_bytes());
        self.choices(name, bytes)
    }
}
