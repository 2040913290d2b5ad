//! Compares the programs of the tests' folders with their floors ([`super::ground`]).

use std::path::PathBuf;

use cegar_tests::one_in;

use super::ground::{Compared, add, compare_with_floor, short};
use super::{ASSERTION_AND_MEMORY, compiled, random_tapes};

/// The cases of the files that contain many short programs, correct and faulty.
pub fn cases() -> (Vec<String>, Compared) {
    let (mut told, mut total) = (Vec::new(), Compared::default());
    let files = compiled::folder("programs");
    for (name, count) in [("apart", 18), ("recent", 12), ("twice", 12)] {
        let is_it = |file: &&PathBuf| file.file_stem().is_some_and(|stem| stem == name);
        let file = files.iter().find(is_it).expect("the program is there");
        // Some cases allocate thousands of blocks.
        let cases = (1..=count).step_by(one_in(3));
        for case in cases.flat_map(|case| [(case, 0), (case, 1)]) {
            let flags = [format!("-DCASE={}", case.0), format!("-DMORE={}", case.1)];
            let files = std::slice::from_ref(file);
            let program = compiled::from_files(files, &flags, None, ASSERTION_AND_MEMORY)
                .unwrap_or_else(|why| panic!("{name}, {case:?}: {why}"));
            let tapes = random_tapes(case.0);
            let (differs, compared) = compare_with_floor(&program, &tapes, short);
            add(&mut total, compared);
            told.extend((differs.first()).map(|what| format!("{name}, {case:?}: {what}")));
        }
    }
    (told, total)
}

/// The programs of the tests' folders.
pub fn whole() -> (Vec<String>, Compared) {
    all_of(
        40,
        &[
            ("agree", ""),
            ("programs", ""),
            ("programs/loops", ""),
            ("programs/recursive", ""),
            ("programs/relations", ""),
            ("programs/texts", ""),
            ("programs/overruns", ""),
            ("programs/growing", ""),
            // A violation ends an execution: only corrected programs continue until the array has
            // grown several times.
            ("programs/growing", "-DFIXED"),
            ("programs/digits", "-DFIXED"),
            ("programs/everyday", "-DFIXED"),
            ("programs/grids", "-DFIXED"),
            ("programs/arrays", "-DFIXED"),
            ("programs/machines", "-DFIXED"),
        ],
    )
}

/// Programs whose heap blocks have owners.
pub fn lists() -> (Vec<String>, Compared) {
    let folders = ["programs/lists", "programs/rows"];
    let both = folders.map(|folder| [(folder, ""), (folder, "-DFIXED")]);
    all_of(8, both.as_flattened())
}

/// The programs of folders, each folder with a compiler flag, on `tapes` random tapes each. Unless
/// the tests are thorough, every second program is compared.
fn all_of(tapes: usize, folders: &[(&str, &str)]) -> (Vec<String>, Compared) {
    let (mut told, mut total) = (Vec::new(), Compared::default());
    for (folder, flag) in folders {
        let flags = [flag].into_iter().filter(|flag| !flag.is_empty());
        let flags: Vec<String> = flags.map(ToString::to_string).collect();
        for file in compiled::folder(folder).into_iter().step_by(one_in(2)) {
            let name = format!("{} {flag}", file.display());
            let Ok(program) = compiled::from_files(&[file], &flags, None, ASSERTION_AND_MEMORY)
            else {
                continue;
            };
            let random = random_tapes(name.len() as u64);
            let (differs, compared) =
                compare_with_floor(&program, &random[..tapes.min(random.len())], short);
            add(&mut total, compared);
            told.extend(differs.first().map(|what| format!("{name}: {what}")));
        }
    }
    (told, total)
}
