#![allow(clippy::unwrap_used, dead_code, reason = "tests")]

use super::super::files;
use super::*;

/// Defines items, and a constant with their source text.
macro_rules! both {
    ($($item:item)*) => {
        $($item)*
        const SOURCE: &str = stringify!($($item)*);
    };
}

both! {
    #[repr(C)] pub struct Plain { pub a: u8, pub b: u64, pub c: u16 }
    #[repr(C, packed(2))] pub struct Packed { pub a: u8, pub b: u64, pub c: u32 }
    #[repr(C, align(32))] pub struct Aligned { pub a: u8, pub b: [u16; 3] }
    #[repr(C)] pub union Either { pub a: [u8; 5], pub b: u32 }
    #[repr(C)] pub struct Nested {
        pub a: Plain, pub b: Either, pub c: *mut Nested, pub d: Option<extern "C" fn(i32)>, pub e: f32, pub f: bool,
    }
    #[repr(C)] pub struct Rows { pub a: [[u32; 3]; 2], pub b: [Nested; 2], pub c: std::mem::ManuallyDrop<u8> }
}

#[test]
fn layouts_are_those_of_rustc() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lib.rs");
    let block = "extern \"C\" { fn f(a: *mut Plain, b: *mut Packed, c: *mut Aligned, d: *mut \
        Either, e: *mut Nested, f: *mut Rows); }";
    std::fs::write(&file, format!("{SOURCE}\n{block}")).unwrap();
    let conditions = Conditions::new(&[], None);
    let tree = files::Reader::new(folder.path(), Vec::new(), &conditions).read(&file);
    let all = declared(tree, &conditions);
    assert!(all.left_out.is_empty(), "{:?}", all.left_out);
    macro_rules! same {
        ($($name:ident { $($field:ident),* })*) => {$(
            let found = all.types.records.values().flatten().find(|record| record.name == stringify!($name));
            let record = found.unwrap_or_else(|| panic!("no {}", stringify!($name)));
            let expected = (size_of::<$name>() as u64, align_of::<$name>() as u64);
            assert_eq!((record.size, record.align), expected, "{}", record.name);
            let offsets: Vec<u64> = record.fields.iter().map(|field| field.offset).collect();
            assert_eq!(offsets, [$(std::mem::offset_of!($name, $field) as u64),*], "{}", record.name);
        )*};
    }
    same! {
        Plain { a, b, c }
        Packed { a, b, c }
        Aligned { a, b }
        Either { a, b }
        Nested { a, b, c, d, e, f }
        Rows { a, b, c }
    }
}
