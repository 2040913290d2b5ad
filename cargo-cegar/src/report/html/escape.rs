//! Escapes text for a page. C source is untrusted input: it must be shown literally, whatever it
//! contains.

/// Escapes text for use between tags and in quoted attributes. Characters that are invisible, or
/// would change the direction of the surrounding text, are replaced by a visible form.
pub fn escape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() + raw.len() / 8);
    for c in raw.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            // These characters would change the direction of the following text.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.push_str(&format!("\u{27e8}U+{:04X}\u{27e9}", c as u32));
            }
            '\r' => {}
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_place() {
        let evil = "</pre><script>alert(\"1\" & '2')</script>\0\u{202e}x";
        let shown = escape(evil);
        assert!(!shown.contains(['<', '>', '"', '\'', '\0', '\u{202e}']));
        assert_eq!(
            shown,
            "&lt;/pre&gt;&lt;script&gt;alert(&quot;1&quot; &amp; \
             &#39;2&#39;)&lt;/script&gt;\u{fffd}\u{27e8}U+202E\u{27e9}x"
        );
    }
}
