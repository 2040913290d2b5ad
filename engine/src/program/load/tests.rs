//! Loads what clang makes of small C files.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// Compiles C at -O0 as a campaign does, with `flags` added.
pub(crate) fn compile(folder: &Path, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let input = folder.join(format!("{name}.c"));
    let output = folder.join(format!("{name}.bc"));
    std::fs::write(&input, source).expect("writing C");
    let done = Command::new("clang-19")
        .args([
            "-O0",
            "-Xclang",
            "-disable-O0-optnone",
            "-g",
            "-fno-discard-value-names",
        ])
        .args(["-fPIC", "-emit-llvm", "-w", "-c"])
        .args(flags)
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output()
        .expect("clang-19 is needed");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    output
}

fn load(source: &str, flags: &[&str]) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    let file = compile(folder.path(), "test", source, flags);
    Program::load_with_entry(&file, "main").expect("loads")
}

/// Every register that is read or written exists and has the width that the operation says.
pub(crate) fn consistent(program: &Program) {
    for block in &program.blocks {
        let registers = &program.function(block.function).registers;
        for inst in &block.ops {
            if let Op::Load { dst, width, .. } | Op::Bin { dst, width, .. } = &inst.op {
                assert_eq!(registers[dst.index()], *width, "{}", program.dump());
            }
        }
    }
}

#[test]
fn ordinary_c() {
    let program = load(
        "#include <assert.h>\n\
         struct node { int value; struct node *next; };\n\
         static int table[3] = {1, 2, 3};\n\
         int *into = &table[1];\n\
         int sum(struct node *n) { int s = 0; while (n) { s += n->value; n = n->next; } return s; }\n\
         int main(void) { struct node a = {1, 0}, b = {2, &a}; assert(sum(&b) == 3); return table[0]; }",
        &[],
    );
    consistent(&program);
    let dump = program.dump();
    assert!(program.unmodelled.is_empty(), "{dump}");
    let into = program
        .globals
        .iter()
        .position(|g| g.name == "into")
        .expect("a global");
    let table = program
        .globals
        .iter()
        .position(|g| g.name == "table")
        .expect("a global");
    let address = Program::global_address(GlobalId(table as u32), 4);
    assert_eq!(program.globals[into].init, address.to_le_bytes());
    let assertion = program
        .checks
        .iter()
        .find(|c| c.kind == CheckKind::Assertion)
        .expect("a check");
    assert_eq!(assertion.expression, "sum(&b) == 3");
    assert_eq!(assertion.pos.line, 6);
    assert!(
        program
            .checks
            .iter()
            .any(|c| c.expression == "n->value" && !c.trivial),
        "{dump}"
    );
}
