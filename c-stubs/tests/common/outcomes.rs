//! The tables of outcomes (`tests/outcomes/*.txt`): for each function, the outcomes of a call
//! according to its manual page, and the choices that lead to them.
//!
//! A file starts with C code. After a line `---`, each line is a case: `function: outcome |
//! channel=bytes ... | output | statements`. Bytes are hexadecimal. The statements of a case print
//! the outcome with `say`, which is printf, or with `both`, which prints a result and `errno`.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::path::Path;

/// One outcome of one function.
pub struct Case {
    /// The function.
    pub function: String,
    /// The description of the outcome.
    pub outcome: String,
    /// The bytes of each channel.
    pub queues: Vec<(String, Vec<u8>)>,
    /// The expected output.
    pub output: String,
    /// The number that selects the case.
    pub number: u8,
}

/// A program with a case for each outcome.
pub struct Table {
    /// The file's name, without its extension.
    pub name: String,
    /// The program. A byte of the channel `byte` selects the case.
    pub source: String,
    /// Its cases.
    pub cases: Vec<Case>,
}

/// All tables in this folder.
pub fn tables(folder: &Path) -> Vec<Table> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            read(&name, &std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn read(name: &str, text: &str) -> Table {
    let (head, rows) = text.split_once("\n---\n").unwrap();
    let head: Vec<&str> = head
        .lines()
        .filter(|line| !line.starts_with("# "))
        .collect();
    let mut source = format!(
        "#define _GNU_SOURCE\n#include <errno.h>\n#include <stdio.h>\n\
         #define say(...) (dprintf(2, __VA_ARGS__), 0)\n\
         #define both(call) do {{ long r_ = (long)(call); say(\"%ld %d\", r_, errno); }} while \
         (0)\n{}\nunsigned char crunner_get_byte(void);\nint main(int argc, char **argv) {{\n\
         switch (crunner_get_byte()) {{\n",
        head.join("\n")
    );
    let mut cases = Vec::new();
    for (number, row) in rows.lines().enumerate() {
        let parts: Vec<&str> = row.splitn(4, '|').map(str::trim).collect();
        let &[title, queues, output, body] = &parts[..] else {
            panic!("{name}: not a case: {row}")
        };
        let (function, outcome) = title.split_once(": ").unwrap();
        let number = u8::try_from(number + 1).unwrap();
        source.push_str(&format!("case {number}: {{ {body}; break; }}\n"));
        let queues = queues.split_whitespace();
        cases.push(Case {
            function: function.to_owned(),
            outcome: outcome.to_owned(),
            queues: queues.map(|queue| bytes(name, queue)).collect(),
            output: output.replace("\\n", "\n"),
            number,
        });
    }
    source.push_str("}\nreturn 0;\n}\n");
    Table {
        name: name.to_owned(),
        source,
        cases,
    }
}

fn bytes(name: &str, queue: &str) -> (String, Vec<u8>) {
    let (channel, digits) = queue.rsplit_once('=').unwrap();
    let bytes = (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16))
        .collect::<Result<Vec<u8>, _>>();
    let Ok(bytes) = bytes else {
        panic!("{name}: no bytes: {queue}")
    };
    (channel.to_owned(), bytes)
}
