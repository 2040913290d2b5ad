//! Shortened lists: a library has hundreds of harnesses and thousands of checks.

/// The first `most` names, and the number of the others.
pub fn few<Name: AsRef<str>>(names: &[Name], most: usize) -> String {
    let shown = names.iter().take(most).map(AsRef::as_ref);
    let shown = shown.collect::<Vec<&str>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
