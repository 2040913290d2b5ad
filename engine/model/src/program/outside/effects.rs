//! What an external function may do, according to its prototype and the user's rules.
//!
//! The effects are the text of a function's attribute in the normalised module, so that a
//! certificate covers them.

/// What may happen to the object that a parameter points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// The object is written, and so is everything that it leads to.
    #[default]
    Written,
    /// The object is not written, because it is declared `const`, but what it leads to is.
    Const,
    /// Nothing behind the parameter is written, except by the body that takes the function's place.
    Untouched,
}

/// What an external function may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effects {
    /// The access behind each parameter of the prototype, by number. Behind other arguments,
    /// including variable ones, objects are written.
    pub params: Vec<Access>,
    /// Whether it keeps the pointers that it is given, for later calls of any external function.
    pub keeps: bool,
    /// Whether it may set `errno`.
    pub errno: bool,
    /// Whether it writes nothing at all.
    pub pure: bool,
    /// Whether its result is a pointer that the program dereferences.
    pub gives: bool,
    /// Whether some of these effects, or the body that takes the function's place, come from a rule
    /// of the user's.
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
    /// The access behind parameter number `i`.
    pub fn param(&self, i: usize) -> Access {
        self.params.get(i).copied().unwrap_or_default()
    }

    /// The text of the attribute: one letter for each parameter, then the exceptions.
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

    /// Parses the text of an attribute. Unknown letters and words allow everything.
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
