//! Values that a harness chose, shown in the harness's types.

use super::HarnessText;

impl HarnessText<'_> {
    /// A value in the type of the harness's variable, whose size is inferred from the value.
    pub(super) fn shown(&self, name: &str, value: u128) -> String {
        if name.is_empty() || self.is_unsigned(name) {
            return value.to_string();
        }
        if let Ok(byte) = u8::try_from(value)
            && self.declaration(name).contains("char")
        {
            return byte.cast_signed().to_string();
        }
        match (u32::try_from(value), u64::try_from(value)) {
            (Ok(word), _) => word.cast_signed().to_string(),
            (_, Ok(long)) => long.cast_signed().to_string(),
            _ => value.to_string(),
        }
    }

    /// Whether a variable is declared with an unsigned type.
    pub(super) fn is_unsigned(&self, name: &str) -> bool {
        let line = self.declaration(name);
        ["unsigned", "uint", "size_t", "_Bool", "bool"]
            .iter()
            .any(|word| line.contains(word))
    }

    /// The line of the harness that declares a variable.
    fn declaration(&self, name: &str) -> &str {
        let declares = |line: &&str| {
            line.split_once(&format!("{name} ="))
                .is_some_and(|(before, _)| before.ends_with([' ', '*']))
        };
        self.text.lines().find(declares).unwrap_or_default()
    }
}
