//! `cargo cegar check-proof CERTIFICATE`: checks the claims of a certificate.

use std::io::Write as _;
use std::path::Path;

use cegar_checker::{Assumption, Certificate, Rejected};
use cegar_model::program::{FunctionKind, Program};
use sha2::{Digest as _, Sha256};

use super::args::{CheckProofArgs, GlobalArgs, MessageFormat};
use super::asking::Asking;
use crate::campaign::proofs::question;
use crate::error::Error;
use crate::exit::ExitCode;
use crate::{probe, store};

/// Runs the command.
pub(super) fn check_proof(
    global_args: &GlobalArgs,
    args: &CheckProofArgs,
) -> Result<ExitCode, Error> {
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
    let mut counted = Counted::default();
    let result = if certificate.bitcode == digest {
        probe::readable(&bitcode)?;
        let program = Program::load(&bitcode).map_err(|why| {
            Error::usage(
                format!("`{}` is no bitcode of ours: {why}", bitcode.display()),
                "give the program.bc that was written beside the certificate",
            )
        })?;
        counted = Counted::of(&program, &certificate);
        let mut asking = Asking::new(args.solver.as_deref(), args.smt2.as_deref())?;
        let checked =
            cegar_checker::check(&program, &digest, &certificate, question(), &mut asking);
        asking.end()?;
        checked
    } else {
        // Bitcode with another hash need not be readable.
        Err(Rejected::Bitcode {
            expected: certificate.bitcode.clone(),
            found: digest,
        })
    };
    let mut out = std::io::stdout();
    let written = match (&result, global_args.message_format) {
        (Ok(checked), MessageFormat::Json) => writeln!(
            out,
            "{}",
            serde_json::json!({
                "reason": "certificate-checked",
                "accepted": true,
                "checks": certificate.checks.len(),
                "user_checks": counted.certain,
                "user_checks_if": counted.conditional,
                "blocks": certificate.blocks.len(),
                "transitions": checked.transitions,
                "questions": checked.questions,
                "assumptions": checked.assumptions,
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
            "accepted: {}, {} edges unreachable; with library functions, what is trivial and what \
             nobody asked for {} checks ({} transitions, {} questions){}",
            counted.words(),
            certificate.blocks.len(),
            certificate.checks.len(),
            checked.transitions,
            checked.questions,
            assuming(&checked.assumptions),
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

/// How many of the proved checks are among those that `check` and `run` count.
#[derive(Clone, Copy, Default)]
struct Counted {
    /// Proved without a condition.
    certain: usize,
    /// Proved if other checks hold.
    conditional: usize,
}

impl Counted {
    fn of(program: &Program, certificate: &Certificate) -> Counted {
        let mut counted = Counted::default();
        for claim in &certificate.checks {
            let Some(check) = program.checks.get(claim.id as usize) else {
                continue;
            };
            let is_user = program.function(check.function).kind == FunctionKind::User;
            let is_asked = certificate.properties.contains(&check.kind.property());
            match claim.given {
                _ if check.trivial || !is_user || !is_asked => {}
                None => counted.certain += 1,
                Some(_) => counted.conditional += 1,
            }
        }
        counted
    }

    fn words(self) -> String {
        match self.conditional {
            0 => format!("{} checks proved", self.certain),
            more => format!(
                "{} checks proved, {more} proved if others hold",
                self.certain
            ),
        }
    }
}

/// The assumptions that the checker derived, one per line.
fn assuming(assumptions: &[Assumption]) -> String {
    let lines = assumptions.iter();
    lines
        .map(|assumption| format!("\nassuming {}", assumption.sentence()))
        .collect()
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
