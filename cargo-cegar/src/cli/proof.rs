//! `cargo cegar check-proof CERTIFICATE`: is what a certificate says really so?

use std::io::Write as _;
use std::path::Path;

use cegar_model::program::{FunctionKind, Program};
use cegar_search::proof::{self, Certificate, Rejected};
use sha2::{Digest as _, Sha256};

use super::args::{CheckProofArgs, Manners, MessageFormat};
use crate::campaign::proofs::question;
use crate::error::Error;
use crate::exit::ExitCode;
use crate::{probe, store};

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
    let mut counted = 0;
    let result = if certificate.bitcode == digest {
        probe::readable(&bitcode)?;
        let program = Program::load(&bitcode).map_err(|why| {
            Error::usage(
                format!("`{}` is no bitcode of ours: {why}", bitcode.display()),
                "give the program.bc that was written beside the certificate",
            )
        })?;
        counted = users(&program, &certificate);
        proof::check(&program, &digest, &certificate, question())
    } else {
        // Other bitcode need not even be readable.
        Err(Rejected::Bitcode {
            expected: certificate.bitcode.clone(),
            found: digest,
        })
    };
    let mut out = std::io::stdout();
    let written = match (&result, manners.message_format) {
        (Ok(checked), MessageFormat::Json) => writeln!(
            out,
            "{}",
            serde_json::json!({
                "reason": "certificate-checked",
                "accepted": true,
                "checks": certificate.checks.len(),
                "user_checks": counted,
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
            "accepted: {counted} checks proved, {} edges unreachable; with library functions and what is trivial {} checks ({} transitions, {} questions)",
            certificate.blocks.len(),
            certificate.checks.len(),
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

/// How many of the proved checks are those that `check` and `run` count.
fn users(program: &Program, certificate: &Certificate) -> usize {
    let proved = certificate.checks.iter();
    proved
        .filter_map(|&id| program.checks.get(id as usize))
        .filter(|check| {
            !check.trivial && program.function(check.function).kind == FunctionKind::User
        })
        .count()
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
