//! Tests of the wrapper on typical input.

use linebuf::{Line, Lines, TooLong};

fn lines(text: &str) -> Vec<Result<Line, TooLong>> {
    Lines::new(text.as_bytes()).collect()
}

fn line(number: u32, text: &str) -> Result<Line, TooLong> {
    Ok(Line {
        number,
        text: text.as_bytes().to_vec(),
    })
}

#[test]
fn comments_and_empty_lines_are_left_out() {
    assert_eq!(
        lines("# only this\n\na # b\nc"),
        [line(3, "a "), line(4, "c")]
    );
}

#[test]
fn a_backslash_joins_lines() {
    assert_eq!(lines("a\\\nb\\\nc\nd\n"), [line(1, "a b c"), line(4, "d")]);
}

#[test]
fn a_backslash_elsewhere_quotes() {
    assert_eq!(lines("a\\b\\\\c\n"), [line(1, "ab\\c")]);
}

#[test]
fn a_long_line_is_an_error_and_the_next_is_read() {
    let text = format!("{}\nb\n", "a".repeat(64));
    assert_eq!(lines(&text), [Err(TooLong { number: 1 }), line(2, "b")]);
}

#[test]
fn the_longest_line_fits() {
    let text = "a".repeat(63);
    assert_eq!(lines(&text), [line(1, &text)]);
}

#[test]
fn nothing_gives_nothing() {
    assert_eq!(lines(""), []);
}
