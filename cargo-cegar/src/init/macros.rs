//! The macros of a header: numbers that have a name, and functions that callers call through a
//! macro.
//!
//! `inflateInit(strm)` passes the header's version and the size of a structure to `inflateInit_`.
//! No caller chooses these values, and a harness that chooses them hardly ever passes the check. So
//! if a header has such a macro, the macro is driven.

use super::api::{Api, Declared, Parameter};

/// Replaces functions by the macros of the header that call them, and notes the macros that stand
/// for a number.
pub fn put(api: &mut Api, header: &str) {
    let joined = header.replace("\\\r\n", " ").replace("\\\n", " ");
    for line in joined.lines() {
        api.numbers.extend(number_of(line));
        let Some((name, params, body)) = macro_of(line) else {
            continue;
        };
        if api.function(&name).is_some() {
            continue;
        }
        let mut all = api.functions.iter().enumerate();
        let put =
            all.find_map(|(i, function)| Some((i, by_macro(function, &name, &params, &body)?)));
        if let Some((i, declared)) = put {
            api.functions[i] = declared;
        }
    }
}

/// The text behind `#define`.
fn defined(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    Some(rest.strip_prefix("define")?.trim_start())
}

/// The name and the value of `#define NAME 136` or `#define NAME (1152*2)`, if that is all: a
/// comment is allowed.
fn number_of(line: &str) -> Option<(String, u64)> {
    let (name, body) = defined(line)?.split_once(char::is_whitespace)?;
    let body = body.split("/*").next()?.split("//").next()?.trim();
    let body = body
        .strip_prefix('(')
        .map_or(Some(body), |body| body.strip_suffix(')'))?;
    let value = body
        .split('*')
        .map(literal)
        .try_fold(1, |product: u64, one| product.checked_mul(one?))?;
    is_name(name).then(|| (name.to_owned(), value))
}

/// The value of a literal, in decimal or hexadecimal digits.
fn literal(text: &str) -> Option<u64> {
    let digits = text.trim().trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        // A number that begins with 0 is octal.
        None if digits.len() > 1 && digits.starts_with('0') => None,
        None => digits.parse().ok(),
    }
}

/// The name, parameters and body of `#define NAME(a, b) body`.
fn macro_of(line: &str) -> Option<(String, Vec<String>, String)> {
    let (name, rest) = defined(line)?.split_once('(')?;
    let (params, body) = rest.split_once(')')?;
    let params: Vec<String> = params.split(',').map(|one| one.trim().to_owned()).collect();
    let are_names = is_name(name) && params.iter().all(|param| is_name(param));
    are_names.then(|| (name.to_owned(), params, body.trim().to_owned()))
}

fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && text.chars().all(letter) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// The function in the form of the macro: only the parameters of the macro remain, and the macro
/// supplies the other arguments.
fn by_macro(function: &Declared, name: &str, params: &[String], body: &str) -> Option<Declared> {
    let rest = body.strip_prefix(function.name.as_str())?.trim_start();
    let rest = rest.strip_prefix('(')?.trim_end().strip_suffix(')')?;
    let arguments = parts(rest)?;
    // Accepts `jpeg_create_compress` for `jpeg_CreateCompress`.
    let letters = |name: &str| name.to_lowercase().replace('_', "");
    if !letters(&function.name).starts_with(&letters(name))
        || arguments.len() != function.params.len()
    {
        return None;
    }
    let plain = |text: &str| text.trim().trim_matches(['(', ')']).trim().to_owned();
    let arguments: Vec<String> = arguments.iter().map(|one| plain(one)).collect();
    let taken: Option<Vec<Parameter>> = params
        .iter()
        .map(|param| {
            let at = arguments.iter().position(|argument| argument == param)?;
            Some(function.params[at].clone())
        })
        .collect();
    let taken = taken.filter(|taken| taken.len() < function.params.len())?;
    Some(Declared {
        comment: String::new(),
        name: name.to_owned(),
        params: taken,
        inline: true,
        ..function.clone()
    })
}

/// Splits the text between a call's parentheses into arguments.
fn parts(text: &str) -> Option<Vec<String>> {
    let (mut depth, mut all) = (0_i32, vec![String::new()]);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                all.push(String::new());
                continue;
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
        all.last_mut()?.push(c);
    }
    (depth == 0).then_some(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::ctype;
    use super::*;

    #[test]
    fn what_the_header_chooses_is_no_parameter() {
        let parameter = |ty: &str, name: &str| Parameter::plain(name, ctype::read(ty));
        let declared = |name: &str| {
            let params = vec![
                parameter("struct s *", "stream"),
                parameter("int", "bits"),
                parameter("const char *", "version"),
                parameter("int", "size"),
            ];
            Declared::plain(name, "int", params, "")
        };
        let mut api = Api::of(vec![
            declared("start_"),
            declared("other"),
            declared("all_"),
            declared("s_Make"),
        ]);
        put(
            &mut api,
            "#  define start(stream, bits) \\\n    start_((stream), (bits), VERSION, \\\n    \
             (int)sizeof(struct s))\n#define oth(a) other(a)\n\
             #define all(a, b, c, d) all_(a, b, c, d)\n#define LIMIT (3)\n\
             #define s_make(a) s_Make(a, 1, VERSION, 2)\n#define start2(x) x\n",
        );
        let names: Vec<&str> = api.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["start", "other", "all_", "s_make"]);
        let of: Vec<&str> = api.functions[0]
            .params
            .iter()
            .map(|p| p.name.as_str())
            .collect();
        assert_eq!(of, ["stream", "bits"]);
    }
}
