//! C files that a build compiles as C++.
//!
//! A C compiler decides whether a file named `.c` is C: a file that it accepts is taken as C,
//! without the flags that only C++ has.

use std::process::Command;

use super::{Captured, LeftOut, Unit};

/// Adds the candidates that a C compiler accepts to the captured units.
pub(super) fn take(captured: &mut Captured, candidates: Vec<Unit>, compiler: &str) {
    for mut unit in candidates {
        if captured.units.iter().any(|known| known.file == unit.file)
            || captured.as_c.contains(&unit.file)
        {
            continue;
        }
        unit.args.retain(|flag| !is_for_cxx(flag));
        let output = Command::new(compiler)
            .current_dir(&unit.directory)
            .args(["-x", "c", "-fsyntax-only", "-w"])
            .args(&unit.args)
            .arg(&unit.file)
            .output();
        if output.is_ok_and(|output| output.status.success()) {
            captured.as_c.push(unit.file.clone());
            captured.units.push(unit);
        } else {
            captured.left_out.push(LeftOut {
                file: unit.file,
                why: "compiled as C++, and no C; C++ is not supported".to_owned(),
            });
        }
    }
}

fn is_for_cxx(flag: &str) -> bool {
    (flag.starts_with("-std=") || flag.starts_with("--std=")) && flag.contains("++")
}
