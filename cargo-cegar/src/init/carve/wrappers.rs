//! Generates, compiles and archives the wrappers that record calls: one C function for each
//! function of the library.

use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

use super::super::api::{Api, Declared};
use super::super::ctype::Kind;
use super::record::Recorded;
use crate::compile::Compiler;
use crate::error::Error;
use crate::store;

pub(super) const RECORDER: &str = include_str!("recorder.c");

pub(super) const HEADER: &str = include_str!("recorder.h");

/// The archive of wrappers, and the names of the wrapped functions.
pub(super) struct Wrapped {
    pub(super) archive: PathBuf,
    pub(super) names: Vec<String>,
    /// A hash of all wrappers and compiler flags.
    pub(super) hash: String,
}

pub(super) fn wrappers(
    folder: &Path,
    compiler: &Compiler,
    api: &Api,
    functions: &[&Declared],
    (include, flags): (&str, &[String]),
    recorded: &mut Recorded,
) -> Result<Wrapped, Error> {
    let sources = folder.join("wrappers");
    let _ = std::fs::remove_dir_all(&sources);
    store::writable_dir(&sources)?;
    store::write(&sources.join("recorder.h"), HEADER.as_bytes())?;
    store::write(&sources.join("recorder.c"), RECORDER.as_bytes())?;
    let compile = |name: &str| compiled(&sources, name, compiler, flags);
    let mut objects = Vec::new();
    match compile("recorder")? {
        Some(object) => objects.push(object),
        None => {
            return Err(Error::engine(
                "compiling the recorder",
                std::io::Error::other("clang rejects it"),
            ));
        }
    }
    let mut names = Vec::new();
    let mut all = format!("{RECORDER}{HEADER}{flags:?}");
    for function in functions {
        let made = match wrapper(api, function, include) {
            Some(text) => {
                all += &text;
                let file = sources.join(format!("wrap_{}.c", function.name));
                store::write(&file, text.as_bytes())?;
                compile(&format!("wrap_{}", function.name))?
            }
            None => None,
        };
        match made {
            Some(object) => {
                objects.push(object);
                names.push(function.name.clone());
            }
            None => recorded.left_out.push(format!(
                "{}: its arguments cannot be recorded",
                function.name
            )),
        }
    }
    let archive = folder.join("librecorder.a");
    let _ = std::fs::remove_file(&archive);
    put_together(&archive, &objects, compiler)?;
    let hash = store::hex(&Sha256::digest(all.as_bytes()))[..16].to_owned();
    Ok(Wrapped {
        archive,
        names,
        hash,
    })
}

/// Compiles one of the sources. `None` if clang rejects it.
pub(super) fn compiled(
    sources: &Path,
    name: &str,
    compiler: &Compiler,
    flags: &[String],
) -> Result<Option<PathBuf>, Error> {
    let object = sources.join(format!("{name}.o"));
    let output = Command::new(&compiler.path)
        .args(["-w", "-O1", "-fPIC", "-c", "-std=gnu11"])
        .args(flags)
        .arg(sources.join(format!("{name}.c")))
        .arg("-o")
        .arg(&object)
        .output()
        .map_err(|why| Error::io("run", &compiler.path, why))?;
    if !output.status.success() {
        tracing::info!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.status.success().then_some(object))
}

/// Creates an archive of object files, with `llvm-ar` if it is installed next to the compiler.
pub(super) fn put_together(
    archive: &Path,
    objects: &[PathBuf],
    compiler: &Compiler,
) -> Result<(), Error> {
    let ar = compiler
        .path
        .canonicalize()
        .unwrap_or_default()
        .with_file_name("llvm-ar");
    let ar = if ar.is_file() {
        ar
    } else {
        PathBuf::from("ar")
    };
    let status = Command::new(&ar)
        .arg("rcs")
        .arg(archive)
        .args(objects)
        .status()
        .map_err(|why| Error::io("run", &ar, why))?;
    if !status.success() {
        let why = std::io::Error::other("it failed");
        return Err(Error::io("run", &ar, why));
    }
    Ok(())
}

/// The wrapper of one function. `None` if it cannot be generated.
pub(super) fn wrapper(api: &Api, function: &Declared, include: &str) -> Option<String> {
    if function.variadic {
        return None;
    }
    let name = &function.name;
    let (mut params, mut passed, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (i, param) in function.params.iter().enumerate() {
        let constant = match (param.ty.constant, &param.ty.kind) {
            (true, Kind::Pointer(_)) | (false, _) => "",
            (true, _) => "const ",
        };
        params.push(format!("__typeof__({constant}{}) a{i}", param.ty.words));
        passed.push(format!("a{i}"));
        values.push(value(api, &param.ty, &format!("a{i}"))?);
    }
    let count = values.len();
    let values = match count {
        0 => "{CEGAR_NOTHING, 0, 0, 0, 0}".to_owned(),
        _ => values.join(",\n        "),
    };
    let returns = api.resolve(&function.returns);
    let words = &function.returns.words;
    let (keep, give, result) = match &returns.kind {
        Kind::Void => (
            String::new(),
            String::new(),
            "{CEGAR_NOTHING, 0, 0, 0, 0}".to_owned(),
        ),
        _ => (
            format!("__typeof__({words}) result = "),
            "    return result;\n".to_owned(),
            value(api, &function.returns, "result")?,
        ),
    };
    let params = match params.is_empty() {
        true => "void".to_owned(),
        false => params.join(", "),
    };
    let ret = match returns.kind {
        Kind::Void => "void".to_owned(),
        _ => format!("__typeof__({words})"),
    };
    let constant =
        if function.returns.constant && !matches!(function.returns.kind, Kind::Pointer(_)) {
            "const "
        } else {
            ""
        };
    let passed = passed.join(", ");
    Some(format!(
        "#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n#include <stdio.h>\n\
         #include <string.h>\n#include \"{include}\"\n#include \"recorder.h\"\n#undef {name}\n\n\
         extern {constant}{ret} __real_{name}({params});\n\n\
         {constant}{ret} __wrap_{name}({params})\n{{\n\x20   struct cegar_value values[] = \
         {{\n        {values}\n    }};\n\x20   unsigned long call = \
         cegar_recorder_begin(\"{name}\", values, {count});\n\x20   \
         {keep}__real_{name}({passed});\n\x20   struct cegar_value given = {result};\n\x20   \
         cegar_recorder_end(call, values, {count}, given);\n{give}}}\n"
    ))
}

/// The C initialiser that records a value. `None` if the type is not supported.
pub(super) fn value(api: &Api, ty: &super::super::ctype::Written, name: &str) -> Option<String> {
    let resolved = api.resolve(ty);
    Some(match &resolved.kind {
        Kind::Int { signed: true, .. } => {
            format!("{{CEGAR_INT, (uint64_t)(int64_t){name}, 0, 0, 0}}")
        }
        Kind::Int { .. } | Kind::Bool | Kind::Enum(_) => {
            format!("{{CEGAR_INT, (uint64_t){name}, 0, 0, 0}}")
        }
        Kind::Float { .. } => "{CEGAR_FLOAT, 0, 0, 0, 0}".to_owned(),
        Kind::Pointer(to) => {
            let target = api.resolve(to);
            let bits = format!("(uint64_t)(uintptr_t){name}");
            let (unit, text) = match &target.kind {
                Kind::Function(_) => return Some(format!("{{CEGAR_CODE, {bits}, 0, 0, 0}}")),
                Kind::Void | Kind::Other => ("0".to_owned(), 0),
                Kind::Record(tag) if api.record(tag).is_none() => ("0".to_owned(), 0),
                Kind::Int { size: 1, .. } => ("1".to_owned(), 1),
                Kind::Named(_) | Kind::Array(_) => ("0".to_owned(), 0),
                _ => (format!("sizeof(*{name})"), 0),
            };
            format!(
                "{{CEGAR_POINTER, {bits}, {unit}, {text}, {}}}",
                u8::from(!to.constant)
            )
        }
        _ => return None,
    })
}
