//! Builds every native product of a module: `build_targets program.bc out runtime-folder`.

use cegar_fuzz::native::{Kind, TargetBuilder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(bitcode), Some(out), Some(runtime)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: build_targets program.bc out runtime-folder".into());
    };
    let builder = TargetBuilder::new(bitcode, out, runtime);
    for kind in [
        Kind::Fast,
        Kind::Comparisons,
        Kind::Runner,
        Kind::RunnerAsan,
    ] {
        let target = builder.build(kind)?;
        println!("{} ({} blocks)", target.path.display(), target.blocks);
    }
    Ok(())
}
