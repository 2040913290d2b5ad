//! Values that a mocked function returns, and their bytes.
//!
//! A test says `.returns("device_open", [3])`. The width of the C function's result is known when
//! the harness is built, so the Rust type of the number does not matter. The number is converted to
//! the channel's type, and a number that does not fit is an error in the test instead of being
//! truncated silently.

use crate::channel::Shape;

/// One returned value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An integer (or truth value), and the size of its Rust type in bytes.
    Int(i128, usize),
    /// A floating point number, and the size of its Rust type in bytes.
    Float(f64, usize),
}

/// Rust's number types, which a mocked function can return.
pub trait Scalar: Copy {
    /// The value and the size of its type.
    fn value(self) -> Value;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Scalar for $t {
            fn value(self) -> Value {
                Value::Int(self as i128, size_of::<$t>())
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

/// The result of a closure that answers for a function without a result.
impl Scalar for () {
    fn value(self) -> Value {
        Value::Int(0, 0)
    }
}

impl Scalar for bool {
    fn value(self) -> Value {
        Value::Int(i128::from(self), 1)
    }
}

impl Scalar for f32 {
    fn value(self) -> Value {
        Value::Float(f64::from(self), 4)
    }
}

impl Scalar for f64 {
    fn value(self) -> Value {
        Value::Float(self, 8)
    }
}

/// Why a channel cannot carry a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The value is too large for the type that the C function returns.
    #[error("{value} does not fit the {size} bytes that it returns")]
    Range {
        /// The number in the test.
        value: i128,
        /// The size of the C type in bytes.
        size: usize,
    },
    /// The value is of the wrong sort.
    #[error("it returns {shape:?}, which {value} is not")]
    Sort {
        /// The shape of the channel.
        shape: Shape,
        /// The value in the test.
        value: String,
    },
}

impl Value {
    /// The bytes of this value on a channel of this shape. If the shape is unknown, the bytes of
    /// the value's own type.
    pub fn encode(self, shape: Option<Shape>) -> Result<Vec<u8>, Unfit> {
        let sort = |shape| Unfit::Sort {
            shape,
            value: self.to_string(),
        };
        match (self, shape) {
            (Value::Int(v, size), None | Some(Shape::Raw)) => Ok(v.to_le_bytes()[..size].to_vec()),
            (Value::Int(v, _), Some(Shape::Int { size, .. })) => fit(v, size),
            (Value::Int(v, _), Some(Shape::Bool)) => fit(v, 1),
            (Value::Int(v, _), Some(Shape::Float { size })) => Ok(float(v as f64, size)),
            (Value::Float(v, size), None | Some(Shape::Raw)) => Ok(float(v, size)),
            (Value::Float(v, _), Some(Shape::Float { size })) => Ok(float(v, size)),
            (_, Some(shape)) => Err(sort(shape)),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Int(v, _) => write!(f, "{v}"),
            Value::Float(v, _) => write!(f, "{v:?}"),
        }
    }
}

fn fit(value: i128, size: usize) -> Result<Vec<u8>, Unfit> {
    let bits = 8 * size.min(15) as u32;
    let range = -(1i128 << (bits - 1))..(1i128 << bits);
    if size == 0 || !range.contains(&value) {
        return Err(Unfit::Range { value, size });
    }
    let mut bytes = value.to_le_bytes().to_vec();
    bytes.resize(size, if value < 0 { 0xFF } else { 0 });
    Ok(bytes)
}

fn float(value: f64, size: usize) -> Vec<u8> {
    match size {
        4 => (value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_width_of_the_channel() {
        let short = Some(Shape::Int {
            size: 2,
            signed: true,
        });
        assert_eq!(3.value().encode(short), Ok(vec![3, 0]));
        assert_eq!((-1).value().encode(short), Ok(vec![255, 255]));
        assert_eq!(65535.value().encode(short), Ok(vec![255, 255]));
        assert_eq!(
            65536.value().encode(short),
            Err(Unfit::Range {
                value: 65536,
                size: 2
            })
        );
        assert_eq!(
            u64::MAX.value().encode(Some(Shape::Int {
                size: 8,
                signed: true
            })),
            Ok(vec![255; 8])
        );
        assert_eq!(3.value().encode(None), Ok(vec![3, 0, 0, 0]));
        assert_eq!(true.value().encode(Some(Shape::Bool)), Ok(vec![1]));
    }

    #[test]
    fn floats_too() {
        assert_eq!(
            1.5.value().encode(Some(Shape::Float { size: 4 })),
            Ok(1.5f32.to_le_bytes().to_vec())
        );
        assert!(
            1.5.value()
                .encode(Some(Shape::Int {
                    size: 4,
                    signed: true
                }))
                .is_err()
        );
    }
}
