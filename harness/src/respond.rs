//! User-defined mocks: closures that answer the calls of an external function.
//!
//! Recorded values (*Executable Counterexamples*, section 4) show one fault. The author of a test
//! may want a device that behaves, such as a register that returns what was written. The C code
//! runs in its own process, so it sends each call of such a function to the test and waits for the
//! answer.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::value::{Scalar, Value};

/// A parameter type of a closure: the number, or the address, that the C code passed.
pub trait Argument {
    /// Converts the parameter's bits, extended to 64.
    fn of(word: u64) -> Self;
}

macro_rules! arguments {
    ($($t:ty)*) => {$(
        impl Argument for $t {
            fn of(word: u64) -> Self {
                word as $t
            }
        }
    )*};
}
arguments!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl Argument for bool {
    fn of(word: u64) -> Self {
        word & 1 == 1
    }
}

/// Closures that can answer: they have up to four parameters, the first ones of the C function.
pub trait Respond<A> {
    /// The answer to a call with these parameters; missing parameters are zero.
    fn respond(&mut self, words: &[u64]) -> Value;
}

macro_rules! closures {
    ($(($($a:ident $i:literal),*))*) => {$(
        impl<F: FnMut($($a),*) -> R, R: Scalar, $($a: Argument),*> Respond<($($a,)*)> for F {
            #[allow(unused_variables)]
            fn respond(&mut self, words: &[u64]) -> Value {
                self($($a::of(words.get($i).copied().unwrap_or(0))),*).value()
            }
        }
    )*};
}
closures!(() (A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3));

type Closure = dyn FnMut(&[u64]) -> Value;

/// A closure in a mock.
#[derive(Clone)]
pub(crate) struct Answer(Rc<RefCell<Closure>>);

impl Answer {
    pub fn new<A>(mut closure: impl Respond<A> + 'static) -> Self {
        Answer(Rc::new(RefCell::new(move |words: &[u64]| {
            closure.respond(words)
        })))
    }

    pub fn answer(&self, words: &[u64]) -> Value {
        (self.0.borrow_mut())(words)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a closure")
    }
}

/// Parses a call that the C code sent: a name and hexadecimal numbers.
pub(crate) fn parse(line: &str) -> Option<(&str, Vec<u64>)> {
    let mut words = line.split(' ');
    let name = words.next().filter(|name| !name.is_empty())?;
    let numbers = words.map(|word| u64::from_str_radix(word, 16).ok());
    Some((name, numbers.collect::<Option<_>>()?))
}

/// The line that is sent back: the bytes of the answer, or a mark that there is none.
pub(crate) fn reply(bytes: Option<&[u8]>) -> String {
    match bytes {
        None => "-\n".to_owned(),
        Some(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("+{hex}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_take_what_the_function_gets() {
        let add = Answer::new(|a: u32, b: i8| a as i32 + i32::from(b));
        assert_eq!(add.answer(&[7, 0xff]), Value::Int(6, 4));
        let mut calls = 0u8;
        let count = Answer::new(move || {
            calls += 1;
            calls
        });
        count.answer(&[]);
        assert_eq!(count.answer(&[1]), Value::Int(2, 1));
        assert_eq!(parse("bus_read ff 10"), Some(("bus_read", vec![255, 16])));
        assert_eq!(parse("bus_read x"), None);
        assert_eq!(reply(Some(&[1, 255])), "+01ff\n");
    }
}
