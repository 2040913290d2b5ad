//! What an external function may do, as its prototype and the user's rules say it.
//!
//! The text is a function's attribute in the normalised module, so that it is part of what a
//! certificate is about.

/// What may happen to what a parameter points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// It is written, and everything that it leads to.
    #[default]
    Written,
    /// It is not written, for it is declared `const`; what it leads to is.
    Const,
    /// Nothing behind it is written, other than by the body that takes the function's place.
    Untouched,
}

/// What an external function may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effects {
    /// Of each parameter of the prototype, by its number; the others, variable arguments among
    /// them, are written.
    pub params: Vec<Access>,
    /// Whether it keeps what it is given, for later calls of any external function.
    pub keeps: bool,
    /// Whether it may set `errno`.
    pub errno: bool,
    /// Whether it writes nothing at all.
    pub pure: bool,
    /// Whether its result is a pointer that the program follows.
    pub gives: bool,
    /// Whether some of this, or of the body in its place, is what the user says.
    pub ruled: bool,
}

impl Default for Effects {
    fn default() -> Effects {
        Effects {
            params: Vec::new(),
            keeps: true,
            errno: true,
            pure: false,
            gives: false,
            ruled: false,
        }
    }
}

impl Effects {
    /// What may happen behind parameter number `i`.
    pub fn param(&self, i: usize) -> Access {
        self.params.get(i).copied().unwrap_or_default()
    }

    /// As an attribute's text: one letter for each parameter, then the exceptions.
    pub fn text(&self) -> String {
        let letter = |access: &Access| match access {
            Access::Written => 'w',
            Access::Const => 'c',
            Access::Untouched => '-',
        };
        let mut text: String = self.params.iter().map(letter).collect();
        for (said, word) in [
            (!self.keeps, " forgets"),
            (!self.errno, " errno-stays"),
            (self.pure, " pure"),
            (self.gives, " gives"),
            (self.ruled, " ruled"),
        ] {
            if said {
                text.push_str(word);
            }
        }
        text
    }

    /// From an attribute's text; what is not understood allows everything.
    pub fn read(text: &str) -> Effects {
        let mut words = text.split(' ');
        let access = |c: char| match c {
            'c' => Access::Const,
            '-' => Access::Untouched,
            _ => Access::Written,
        };
        let params = words.next().unwrap_or_default().chars().map(access);
        let mut effects = Effects {
            params: params.collect(),
            ..Effects::default()
        };
        for word in words {
            match word {
                "forgets" => effects.keeps = false,
                "errno-stays" => effects.errno = false,
                "pure" => effects.pure = true,
                "gives" => effects.gives = true,
                "ruled" => effects.ruled = true,
                _ => {}
            }
        }
        effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_read_as_they_are_written() {
        let effects = Effects {
            params: vec![Access::Written, Access::Const, Access::Untouched],
            keeps: false,
            errno: false,
            pure: true,
            gives: true,
            ruled: true,
        };
        assert_eq!(Effects::read(&effects.text()), effects);
        assert_eq!(Effects::read(""), Effects::default());
    }
}
