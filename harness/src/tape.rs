//! Helpers that describe inputs.
//!
//! The inputs that break C code are long and repetitive: five hundred equal letters, a header and
//! then zeros. The person who corrects the C code reads the test, so an input should show its
//! structure: `b"GET ".then(repeat(b'a', 513))`. The results are plain `Vec`s, so tests can use any
//! other Rust code to build an input.

/// `count` copies of a value: `repeat(b'a', 513)` for bytes, `repeat(1, 40)` for the answers of a
/// mocked function.
pub fn repeat<T: Clone>(value: T, count: usize) -> Vec<T> {
    vec![value; count]
}

/// A value of a bindgen type with every field zero, for `config { name_len: 17, ..zeroed() }`.
///
/// bindgen's `Default` is all zeros, which makes this safe for every type it wrote.
pub fn zeroed<T: Default>() -> T {
    T::default()
}

/// An array member of a structure: these values, then zeros. Example: `name: padded(b"eth0")`.
///
/// # Panics
/// If there are more values than elements of the array.
pub fn padded<T: Copy + Default, const N: usize>(values: impl AsRef<[T]>) -> [T; N] {
    let mut all = [T::default(); N];
    let values = values.as_ref();
    all[..values.len()].copy_from_slice(values);
    all
}

/// Concatenates sequences of values: `b"GET ".then(repeat(b'a', 17))`.
pub trait Then<T: Clone>: AsRef<[T]> {
    /// This sequence followed by `more`.
    fn then(&self, more: impl AsRef<[T]>) -> Vec<T> {
        [self.as_ref(), more.as_ref()].concat()
    }
}

impl<T: Clone, S: AsRef<[T]> + ?Sized> Then<T> for S {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_in_order() {
        assert_eq!(b"GET ".then(repeat(b'a', 3)).then(b"\n"), b"GET aaa\n");
        assert_eq!([1, 2].then(repeat(3, 2)), [1, 2, 3, 3]);
        assert_eq!(repeat(0u8, 2).then([7]), [0, 0, 7]);
    }

    #[test]
    fn zeroed_is_default() {
        assert_eq!(zeroed::<(u32, bool)>(), (0, false));
    }
}
