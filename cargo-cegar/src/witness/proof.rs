//! Exports the invariants of a proof, at the loops of the source.

use cegar_model::program::{Program, plain};
use cegar_search::proof;

use super::format::{Entry, Invariant, InvariantItem, InvariantKind};
use super::source::{Loop, Sources};
use super::{Failed, Made, Request, asked, counted, location, metadata};
use crate::error::Error;
use crate::explain::StoredCampaign;

/// The witness for the proofs of the certificate.
pub(super) fn entry(request: &Request, left: &StoredCampaign, sources: &Sources) -> Made {
    let Some(certificate) = left.certificate() else {
        return Err(Failed::Why("there is no certificate".to_owned()));
    };
    let bitcode = request.scratch.join("program.bc");
    let program = Program::load_with_loops(&bitcode)
        .map_err(|why| Error::engine("reading the program", why))?;
    let said = proof::in_c(&program, certificate)
        .map_err(|why| Failed::Why(format!("the certificate cannot be read: {why}")))?;
    let mut content = Vec::new();
    let mut left_out = said.left_out;
    for one in said.loops {
        let path = program.files.get(one.pos.file as usize);
        let place = path
            .and_then(|path| sources.spot(path, one.pos.line, one.pos.column))
            .and_then(|spot| sources.loop_at(spot));
        let (kind, spot) = match place {
            Some(Loop::Before(spot)) => (InvariantKind::LoopInvariant, spot),
            Some(Loop::Body(spot)) => (InvariantKind::LocationInvariant, spot),
            None => {
                left_out += one.facts.len();
                continue;
            }
        };
        let function = plain(&program.function(one.function).name).to_owned();
        for value in one.facts {
            let location = location(sources, spot, Some(spot.column), function.clone());
            content.push(InvariantItem {
                invariant: Invariant {
                    kind,
                    location,
                    value,
                    format: "c_expression",
                },
            });
        }
    }
    let metadata = metadata(request, asked(&request.entry, &left.kept.properties))?;
    let mut told = counted(content.len(), "invariant");
    if left_out > 0 {
        told.push_str(&format!(
            "; {} left out, which C cannot say there",
            counted(left_out, "fact")
        ));
    }
    Ok((Entry::InvariantSet { metadata, content }, told))
}
