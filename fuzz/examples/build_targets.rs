//! Builds every native product of a module: `build_targets program.bc out`.

use cegar_fuzz::native::{Kind, TargetBuilder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(bitcode), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: build_targets program.bc out".into());
    };
    let builder = TargetBuilder::new(bitcode, out);
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
