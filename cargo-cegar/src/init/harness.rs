//! The first harness.
//!
//! Most functions worth testing take a buffer and its length: for those the harness can be written. For any other it is
//! a template: the prototype, and how to get values. The prototype is read from the header's text, not through a
//! compiler, because at this point nobody knows the defines and include paths yet.

use std::path::Path;

use regex::Regex;

use crate::error::Error;
use crate::{config, store};

/// A function as its header declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype {
    /// The type that it returns.
    pub returns: String,
    /// Its name.
    pub name: String,
    /// Its parameters, each as it is written.
    pub parameters: Vec<String>,
}

/// A harness's text, and what is left to do in it.
pub(super) struct Written {
    pub text: String,
    pub to_do: Option<String>,
}

/// Writes a harness for `function` of `header`, or a template.
pub(super) fn write(
    header: Option<&Path>,
    function: Option<&str>,
    name: &str,
) -> Result<Written, Error> {
    let (Some(header), Some(function)) = (header, function) else {
        let to_do = format!("call the library in harnesses/{name}.c");
        return Ok(Written {
            text: template(None, None),
            to_do: Some(to_do),
        });
    };
    let text = store::read_text(header)?;
    let prototypes = prototypes(&text);
    let Some(prototype) = prototypes.iter().find(|p| p.name == function) else {
        let names = prototypes.iter().map(|p| p.name.as_str());
        let help = match config::nearest(function, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it declares: {}", names.collect::<Vec<_>>().join(", ")),
        };
        return Err(Error::nothing(
            format!("`{}` does not declare `{function}`", header.display()),
            help,
        ));
    };
    let include = header.file_name().unwrap_or_default().to_string_lossy();
    match call(prototype) {
        Some(call) => Ok(Written {
            text: buffer_harness(&include, prototype, &call),
            to_do: None,
        }),
        None => Ok(Written {
            text: template(Some(&include), Some(prototype)),
            to_do: Some(format!(
                "fill in the arguments of `{function}` in harnesses/{name}.c"
            )),
        }),
    }
}

/// The functions that a header declares, found by the shape of its text.
pub(super) fn prototypes(header: &str) -> Vec<Prototype> {
    // These patterns are constants; a test reads them all.
    let pattern = |text: &str| Regex::new(text).ok();
    let (Some(comments), Some(directives), Some(declaration)) = (
        pattern(r"(?s)/\*.*?\*/|//[^\n]*"),
        pattern(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$"),
        pattern(
            r"(?s)([A-Za-z_][\w\s*]*?[\s*])([A-Za-z_]\w*)\s*\(([^(){};]*)\)[^;{}()]*(?:\([^;{}]*\))?\s*[;{]",
        ),
    ) else {
        return Vec::new();
    };
    let text = comments.replace_all(header, " ");
    let text = directives.replace_all(&text, "");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    declaration
        .captures_iter(&text)
        .filter(|found| !found[1].trim_start().starts_with("typedef"))
        .map(|found| {
            let parameters = words(&found[3]);
            let parameters = match parameters.as_str() {
                "" | "void" => Vec::new(),
                _ => parameters.split(',').map(|p| p.trim().to_owned()).collect(),
            };
            Prototype {
                returns: words(&found[1]),
                name: found[2].to_owned(),
                parameters,
            }
        })
        .collect()
}

/// The arguments `data, size` as casts, if the function takes a buffer of bytes and its length, in this order.
fn call(prototype: &Prototype) -> Option<String> {
    let [buffer, length] = &prototype.parameters[..] else {
        return None;
    };
    let (buffer_type, buffer_name) = split(buffer);
    let pointers = buffer.matches('*').count() + buffer.matches('[').count();
    let base: Vec<&str> = buffer_type
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty() && !["const", "restrict", "struct"].contains(word))
        .collect();
    const BYTES: &[&[&str]] = &[
        &["char"],
        &["unsigned", "char"],
        &["signed", "char"],
        &["uint8_t"],
        &["int8_t"],
        &["void"],
        &["u8"],
        &["Bytef"],
    ];
    // Reading from constant bytes is the common case; a function that writes into the buffer needs one of its own.
    let constant = buffer
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word == "const");
    if pointers != 1 || !constant || !BYTES.contains(&&base[..]) {
        return None;
    }
    let (length_type, _) = split(length);
    let number = [
        "int", "long", "size_t", "ssize_t", "unsigned", "uint32_t", "uint64_t", "short",
        "uint16_t", "int32_t",
    ];
    if length.contains(['*', '['])
        || !length_type
            .split_whitespace()
            .any(|word| number.contains(&word))
    {
        return None;
    }
    let buffer_type = if buffer_type.is_empty() {
        buffer_name
    } else {
        buffer_type
    };
    let cast = buffer_type.trim_end_matches(|c: char| c == ']' || c == '[' || c.is_whitespace());
    let cast = if cast.contains('*') {
        cast.to_owned()
    } else {
        format!("{cast} *")
    };
    Some(format!("({cast})data, ({length_type})size"))
}

/// A parameter's type and name; the name may be missing.
fn split(parameter: &str) -> (&str, &str) {
    let parameter = parameter.split('[').next().unwrap_or(parameter).trim_end();
    let at = parameter
        .rfind(|c: char| !c.is_alphanumeric() && c != '_')
        .map_or(0, |at| at + 1);
    let (of, name) = parameter.split_at(at);
    let types = [
        "char", "int", "long", "short", "unsigned", "signed", "size_t", "void",
    ];
    if name.is_empty() || of.trim().is_empty() || types.contains(&name) || name.ends_with("_t") {
        return (parameter, "");
    }
    (of.trim_end(), name)
}

fn buffer_harness(include: &str, prototype: &Prototype, call: &str) -> String {
    format!(
        "/* Gives {name} an arbitrary buffer. Each byte, and how many there are, is chosen by the search. */\n\
         #include <stddef.h>\n\
         #include <stdint.h>\n\
         \n\
         #include \"{include}\"\n\
         \n\
         int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n\
         {{\n    \
             {name}({call});\n    \
             return 0;\n\
         }}\n",
        name = prototype.name,
    )
}

fn template(include: Option<&str>, prototype: Option<&Prototype>) -> String {
    let include = include.map_or("/* #include \"library.h\" */".to_owned(), |i| {
        format!("#include \"{i}\"")
    });
    let call = match prototype {
        Some(p) => format!(
            "    /* {} {}({});\n     * Get a value for each argument, then call it. */\n",
            p.returns,
            p.name,
            if p.parameters.is_empty() {
                "void".to_owned()
            } else {
                p.parameters.join(", ")
            }
        ),
        None => "    /* Call the library with the values. */\n    (void)size;\n".to_owned(),
    };
    format!(
        "/* A program over the library: whatever it asks for below is chosen by the search.\n\
         \x20*\n\
         \x20*   crunner_get_byte()  crunner_get_int()  crunner_get_bool()   a value of that type\n\
         \x20*   crunner_get_bytes(buffer, n)                               n bytes\n\
         \x20*   crunner_assume(condition)                                  runs in which it does not hold do not count\n\
         \x20*   crunner_check(condition)                                   a check of your own\n\
         \x20*\n\
         \x20* Standard input, files, arguments and the environment are chosen as well. */\n\
         #include <stddef.h>\n\
         #include <stdint.h>\n\
         \n\
         #include <crunner.h>\n\
         {include}\n\
         \n\
         int main(void)\n\
         {{\n    \
             uint8_t data[64];\n    \
             size_t size = crunner_get_byte() % (sizeof data + 1);\n\
         \n    \
             crunner_get_bytes(data, size);\n\
         {call}    \
             return 0;\n\
         }}\n"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const HEADER: &str = "#ifndef H\n#define H(x) \\\n  f(x)\n/* int no(void); */\n#include <x.h>\n\
        typedef int (*callback)(void);\n\
        struct s;\n\
        int parse_header(const unsigned char *buf, size_t len);\n\
        extern API const struct s *\nother(struct s *s,\n   int n) __attribute__((nonnull(1)));\n\
        void nothing(void);\n\
        static inline int small(const char *s, int) { return 0; }\n#endif\n";

    #[test]
    fn prototypes_are_read() {
        let found = prototypes(HEADER);
        let names: Vec<&str> = found.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["parse_header", "other", "nothing", "small"]);
        assert_eq!(found[1].parameters, ["struct s *s", "int n"]);
        assert!(found[2].parameters.is_empty());
    }

    #[test]
    fn a_buffer_and_its_length_are_recognised() {
        let found = prototypes(HEADER);
        assert_eq!(
            call(&found[0]).unwrap(),
            "(const unsigned char *)data, (size_t)size"
        );
        assert_eq!(call(&found[3]).unwrap(), "(const char *)data, (int)size");
        assert_eq!(call(&found[1]), None);
    }
}
