//! Temporary folders that contain a program or a whole crate. They are removed at the end of the
//! test, unless `CEGAR_KEEP` is set.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The temporary folder of a test.
pub struct Project {
    folder: PathBuf,
    _removed_at_the_end: Option<TempDir>,
}

impl AsRef<Path> for Project {
    fn as_ref(&self) -> &Path {
        self.path()
    }
}

impl Project {
    /// An empty folder.
    pub fn empty() -> Self {
        let folder = TempDir::with_prefix("cegar-")
            .unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        if env::var_os("CEGAR_KEEP").is_some() {
            let folder = folder.keep();
            eprintln!("kept: {}", folder.display());
            return Self {
                folder,
                _removed_at_the_end: None,
            };
        }
        Self {
            folder: folder.path().to_path_buf(),
            _removed_at_the_end: Some(folder),
        }
    }

    /// A folder with one of the files in `programs/`.
    pub fn program(name: &str) -> Self {
        let project = Self::empty();
        project.write(name, &program(name));
        project
    }

    /// A crate around one C file.
    pub fn wrapping(name: &str, header: &str, source: &str) -> Self {
        let project = Self::empty();
        project.write(
            "Cargo.toml",
            &format!("[package]\nname = \"{name}-sys\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        );
        project.write(
            "src/lib.rs",
            "//! Empty: the C code is what matters here.\n",
        );
        project.write(&format!("c/{name}.h"), header);
        project.write(&format!("c/{name}.c"), source);
        let build = "use std::{env, process::Command};\n\
             fn main() {\n    \
                 let cc = env::var(\"CC\").unwrap_or(\"cc\".into());\n    \
                 let object = env::var(\"OUT_DIR\").unwrap() + \"/NAME.o\";\n    \
                 let words = [\"-Ic\", \"-c\", \"c/NAME.c\", \"-o\", &object];\n    \
                 assert!(Command::new(cc).args(words).status().unwrap().success());\n\
             }\n";
        project.write("build.rs", &build.replace("NAME", name));
        project
    }

    /// Two programs, `one.c` and `two.c`, each with an index past an array's bound.
    pub fn two_programs() -> Self {
        let project = Self::empty();
        for (name, least) in [("one", 3), ("two", 4)] {
            let text = format!(
                "#include <stdio.h>\nint main(void)\n{{\n    int a[4] = {{0}}, c = getchar();\n    \
                 return c >= {least} && c < 6 ? a[c] : 0;\n}}\n"
            );
            project.write(&format!("{name}.c"), &text);
        }
        project
    }

    /// A crate named `demo` around one C function, with a `cegar/` package whose one harness,
    /// `demo`, gives that function the program's input. No build script: `cegar.toml` lists the
    /// sources.
    pub fn package(c: &str) -> Self {
        let project = Self::empty();
        project.write(
            "Cargo.toml",
            "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        );
        project.write(
            "src/lib.rs",
            "//! Empty: the C code is what matters here.\n",
        );
        project.write(
            "c/demo.h",
            "#include <stddef.h>\nint demo(const unsigned char *data, size_t size);\n",
        );
        project.write("c/demo.c", &format!("#include \"demo.h\"\n{c}"));
        project.write(
            "cegar/Cargo.toml",
            &format!(
                "[package]\nname = \"demo-cegar\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             publish = false\n\n[workspace]\n\n[workspace.dependencies]\n\
             cegar-harness = {{ path = \"{}\" }}\n\n[build-dependencies]\n\
             cegar-harness.workspace = true\n\n[dev-dependencies]\ncegar-harness.workspace = true\n\
             ",
                root().join("harness").display()
            ),
        );
        project.write(
            "cegar/build.rs",
            "fn main() {\n    cegar_harness::build::harnesses(\"harnesses\");\n}\n",
        );
        project.write("cegar/src/lib.rs", "//! Nothing but tests.\n");
        project.write(
            "cegar/cegar.toml",
            "[c]\nsources = [\"../c/demo.c\"]\nincludes = [\"../c\"]\n\n[harness.demo]\n\
             file = \"harnesses/demo.c\"\n",
        );
        project.write(
            "cegar/harnesses/demo.c",
            "#include \"demo.h\"\n\n\
             int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)\n{\n    demo(data, \
             size);\n    return 0;\n}\n",
        );
        project
    }

    /// A crate whose build script runs these lines of shell. Cargo and the tool set `$CC`, `$CXX`
    /// and `$OUT_DIR`.
    pub fn built_by(script: &str, files: &[(&str, &str)]) -> Project {
        let project = Project::empty();
        project.write(
            "Cargo.toml",
            "[package]\nname = \"odd-sys\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [workspace]\nmembers = [\"cegar\"]\n",
        );
        project.write(
            "src/lib.rs",
            "//! Empty: the C code is what matters here.\n",
        );
        project.write(
            "build.rs",
            &format!(
                "fn main() {{\n    let done = std::process::Command::new(\"sh\").args([\"-ec\", \
                 {script:?}]).status();\n    assert!(done.unwrap().success(), \"the script \
                 failed\");\n}}\n"
            ),
        );
        project.write(
            "cegar/Cargo.toml",
            "[package]\nname = \"odd-sys-cegar\"\n\
            version = \"0.1.0\"\nedition = \"2024\"\npublish = false\n",
        );
        project.write("cegar/src/lib.rs", "//! Nothing but tests.\n");
        project.write(
            "cegar/cegar.toml",
            "[c]\nincludes = [\"../c\"]\n\n[harness.odd]\nfile = \"harnesses/odd.c\"\n",
        );
        project.write(
            "cegar/harnesses/odd.c",
            "int odd(int);\nint main(void)\n{\n    return odd(1);\n}\n",
        );
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// As [`Project::built_by`], but before `init`: there is no harness package.
    pub fn before_init(script: &str, files: &[(&str, &str)]) -> Project {
        let project = Project::built_by(script, files);
        fs::remove_dir_all(project.at("cegar")).expect("it was just written");
        let manifest = project.read("Cargo.toml");
        let manifest = manifest.replace("members = [\"cegar\"]\n", "");
        project.write("Cargo.toml", &manifest);
        project
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// A path in the folder.
    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Writes a file, and the folders that it needs.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text));
        written.unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }

    /// Reads a file.
    pub fn read(&self, path: &str) -> String {
        let path = self.at(path);
        fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
    }

    /// Corrects a program as its author would: the text changes, the file name does not. The
    /// programs contain their correction, which `FIXED` selects.
    pub fn define_fixed(&self, path: &str) {
        self.write(path, &format!("#define FIXED 1\n{}", self.read(path)));
    }
}

/// A function with many branches and no fault. It keeps a campaign busy.
pub const BUSY: &str = "\
int demo(const unsigned char *data, size_t size)
{
    unsigned hash = 2166136261u, level = 0;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * 16777619u;
        if (hash % 251 == level)
            level++;
        if (level == 40)
            return 1;
    }
    return 0;
}
";

/// The full name of the test that begins with `begins`, in the text of a test file: the rest of the
/// name is a hash.
#[track_caller]
pub fn test_name(text: &str, begins: &str) -> String {
    let (_, rest) = text
        .split_once(&format!("fn {begins}_"))
        .unwrap_or_else(|| panic!("no test `{begins}_...` in\n{text}"));
    let hash = rest.split('(').next().unwrap_or_default();
    format!("{begins}_{hash}")
}

/// The text of one of the files in `programs/`.
pub fn program(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("programs")
        .join(name);
    fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}
