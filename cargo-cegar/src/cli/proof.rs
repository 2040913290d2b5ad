//! `cargo cegar check-proof CERTIFICATE`: is what a certificate says really so?

use std::io::Write as _;
use std::path::Path;

use cegar_engine::program::Program;
use cegar_engine::proof::{self, Certificate};
use sha2::{Digest as _, Sha256};

use super::args::{CheckProofArgs, Manners, MessageFormat};
use crate::campaign::proofs::QUESTION;
use crate::error::Error;
use crate::exit::ExitCode;
use crate::store;

/// Runs the command.
pub(super) fn check_proof(manners: &Manners, args: &CheckProofArgs) -> Result<ExitCode, Error> {
    let path = &args.certificate;
    let text = read(path)?;
    let certificate: Certificate = serde_json::from_slice(&text).map_err(|why| {
        Error::usage(
            format!("`{}` is no certificate: {why}", path.display()),
            "give the certificate.json that `cargo cegar check --certificate DIR` wrote",
        )
    })?;
    let bitcode = match &args.bitcode {
        Some(bitcode) => bitcode.clone(),
        None => path.with_file_name("program.bc"),
    };
    let digest = store::hex(&Sha256::digest(read(&bitcode)?));
    let program =
        Program::load(&bitcode).map_err(|why| Error::engine("reading the bitcode", why))?;
    let result = proof::check(&program, &digest, &certificate, QUESTION);
    let mut out = std::io::stdout();
    let written = match (&result, manners.message_format) {
        (Ok(checked), MessageFormat::Json) => writeln!(
            out,
            "{}",
            serde_json::json!({
                "reason": "certificate-checked",
                "accepted": true,
                "checks": certificate.checks.len(),
                "blocks": certificate.blocks.len(),
                "transitions": checked.transitions,
                "questions": checked.questions,
                "assumptions": certificate.assumptions,
            })
        ),
        (Err(why), MessageFormat::Json) => writeln!(
            out,
            "{}",
            serde_json::json!({
                "reason": "certificate-checked",
                "accepted": false,
                "why": why.to_string(),
            })
        ),
        (Ok(checked), MessageFormat::Human) => writeln!(
            out,
            "accepted: {} checks proved, {} blocks unreachable ({} transitions, {} questions)",
            certificate.checks.len(),
            certificate.blocks.len(),
            checked.transitions,
            checked.questions
        ),
        (Err(why), MessageFormat::Human) => writeln!(out, "rejected: {why}"),
    };
    written.map_err(|why| Error::io("write", "standard output", why))?;
    Ok(if result.is_ok() {
        ExitCode::Clean
    } else {
        ExitCode::Rejected
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|why| match why.kind() {
        std::io::ErrorKind::NotFound => Error::nothing(
            format!("there is no file `{}`", path.display()),
            "paths are relative to the current folder",
        ),
        _ => Error::io("read", path, why),
    })
}
