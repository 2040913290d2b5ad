//! Typical uses of decoders.

use frames::{Decoder, Error};

#[test]
fn a_stream_comes_in_pieces() {
    let mut decoder = Decoder::new(1, b'\n', 16).unwrap();
    assert_eq!(decoder.feed(b"one\ntwo\nth"), Ok(2));
    assert_eq!(decoder.feed(b"ree\n"), Ok(1));
    assert_eq!(decoder.feed(b"rest"), Ok(0));
    assert_eq!(decoder.finish().unwrap(), b"rest");
}

#[test]
fn one_piece_is_enough() {
    let mut decoder = Decoder::new(1, b';', 8).unwrap();
    assert_eq!(decoder.feed(b"a;b;c"), Ok(2));
    assert_eq!(decoder.finish().unwrap(), b"c");
}

#[test]
fn a_backslash_takes_the_meaning_from_a_mark() {
    let mut decoder = Decoder::new(2, b';', 12).unwrap();
    assert_eq!(decoder.feed(b"a\\"), Ok(0));
    assert_eq!(decoder.feed(b";b;"), Ok(1));
    assert_eq!(decoder.finish().unwrap(), b"");
}

#[test]
fn a_long_frame_is_an_error() {
    let mut decoder = Decoder::new(1, b';', 4).unwrap();
    assert_eq!(decoder.feed(b"abcde"), Err(Error::TooLong));
}

#[test]
fn an_unknown_version_is_refused() {
    assert_eq!(Decoder::new(3, b';', 4).unwrap_err(), Error::Refused);
}
