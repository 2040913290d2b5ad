//! Lists that are cut short: a library has hundreds of harnesses and thousands of checks.

/// The first four names, and how many follow.
pub fn few<Name: AsRef<str>>(names: &[Name]) -> String {
    const SHOWN: usize = 4;
    let shown = names.iter().take(SHOWN).map(AsRef::as_ref);
    let shown = shown.collect::<Vec<&str>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
