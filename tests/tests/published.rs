//! The published crates, and generated packages that depend on them: the crates as cargo packages
//! them contain all files that they need, and a test can be built from them alone. (`cargo xtask
//! package` tests the same together with the tool.)

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use cegar_tests::{Ended, Project, Tool, cargo_test, exit, shared_target};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The crates that are published.
const CRATES: [&str; 9] = [
    "cargo-cegar",
    "cegar-checker",
    "cegar-fuzz",
    "cegar-harness",
    "cegar-llvm",
    "cegar-model",
    "cegar-papers",
    "cegar-search",
    "cegar-stubs",
];

const FAULTY: &str = "\
int demo(const unsigned char *data, size_t size)
{
    if (size > 1 && data[0] == 'g')
        return data[size];
    return 0;
}
";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn succeeds(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let ended = Ended::of(command, output);
    ended.expect(0);
    ended.stdout
}

/// The folder with the `.crate` files and their unpacked contents.
struct Packaged {
    version: String,
    folder: Project,
}

impl Packaged {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.at(&format!("{name}-{}.crate", self.version))
    }

    fn unpacked(&self, name: &str) -> PathBuf {
        self.folder.at(&format!("{name}-{}", self.version))
    }
}

fn packaged() -> &'static Packaged {
    static PACKAGED: OnceLock<Packaged> = OnceLock::new();
    PACKAGED.get_or_init(|| {
        let target = shared_target().with_file_name("packaged");
        let mut cargo = Command::new("cargo");
        cargo
            .args(["package", "--offline", "--no-verify", "--allow-dirty"])
            .args(CRATES.iter().flat_map(|name| ["--package", name]))
            .arg("--target-dir")
            .arg(&target)
            .current_dir(root());
        succeeds(&mut cargo);
        let packaged = Packaged {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            folder: Project::empty(),
        };
        for name in CRATES {
            let file = packaged.file(name);
            let made = target
                .join("package")
                .join(file.file_name().unwrap_or_default());
            fs::copy(&made, &file).unwrap_or_else(|why| panic!("{}: {why}", made.display()));
            let mut tar = Command::new("tar");
            succeeds(
                tar.arg("xzf")
                    .arg(&file)
                    .current_dir(packaged.folder.path()),
            );
        }
        packaged
    })
}

#[test]
fn each_crate_says_what_it_is() {
    for name in CRATES {
        let folder = packaged().unpacked(name);
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let path = folder.join(licence);
            assert!(!path.is_symlink(), "{}", path.display());
            assert_eq!(read(&path), read(&root().join(licence)));
        }
        assert!(read(&folder.join("README.md")).starts_with(&format!("# {name}\n")));
        let mut cargo = Command::new("cargo");
        cargo
            .args([
                "metadata",
                "--offline",
                "--no-deps",
                "--format-version",
                "1",
            ])
            .current_dir(&folder);
        let metadata: Value = serde_json::from_str(&succeeds(&mut cargo))
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        let package = &metadata["packages"][0];
        for field in [
            "description",
            "license",
            "repository",
            "documentation",
            "readme",
            "rust_version",
        ] {
            assert!(package[field].is_string(), "{name} has no {field}");
        }
        let count = |field: &str| package[field].as_array().map_or(0, Vec::len);
        assert!((1..=5).contains(&count("keywords")), "{name}: keywords");
        assert!((1..=5).contains(&count("categories")), "{name}: categories");
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            assert!(dependency["path"].is_null(), "{name}: {dependency}");
            assert_ne!(dependency["req"], "*", "{name}: {dependency}");
        }
    }
}

/// A file outside of its crate's folder exists in a checkout, but not in the published crate.
#[test]
fn what_a_source_includes_is_in_its_crate() {
    let mut seen = 0;
    for name in CRATES {
        let mut folders = vec![packaged().unpacked(name)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                if path.extension().is_none_or(|extension| extension != "rs") {
                    continue;
                }
                let text = read(&path);
                for include in ["include_str!(\"", "include_bytes!(\"", "include!(\""] {
                    for rest in text.split(include).skip(1) {
                        let file = rest.split('"').next().unwrap_or_default();
                        seen += 1;
                        assert!(
                            folder.join(file).is_file(),
                            "{}: {file} is not in the crate",
                            path.display()
                        );
                    }
                }
            }
        }
    }
    assert!(seen >= 5, "only {seen} were seen");
}

/// A folder that replaces the registry: the dependencies of the test's package as `cargo vendor`
/// copies them, and our crates from their `.crate` files.
fn registry(project: &Project) {
    let packaged = packaged();
    project.write(
        "vendored/Cargo.toml",
        &format!(
            "[package]\nname = \"vendored\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [workspace]\n\n[dependencies]\ncegar-harness = {{ path = \"{}\" }}\n\n\
             [patch.crates-io]\ncegar-stubs = {{ path = \"{}\" }}\n",
            packaged.unpacked("cegar-harness").display(),
            packaged.unpacked("cegar-stubs").display()
        ),
    );
    project.write("vendored/src/lib.rs", "");
    let mut cargo = Command::new("cargo");
    cargo
        .args(["vendor", "--quiet", "--versioned-dirs"])
        .arg(project.at("registry"))
        .current_dir(project.at("vendored"));
    succeeds(&mut cargo);
    for name in ["cegar-harness", "cegar-stubs"] {
        let mut tar = Command::new("tar");
        succeeds(
            tar.arg("xzf")
                .arg(packaged.file(name))
                .current_dir(project.at("registry")),
        );
        let bytes = fs::read(packaged.file(name)).unwrap_or_default();
        let hash: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        project.write(
            &format!("registry/{name}-{}/.cargo-checksum.json", packaged.version),
            &format!("{{\"files\":{{}},\"package\":\"{hash}\"}}"),
        );
    }
    project.write(
        "cegar/.cargo/config.toml",
        &format!(
            "[source.crates-io]\nreplace-with = \"packaged\"\n\n[source.packaged]\n\
             directory = \"{}\"\n\n[net]\noffline = true\n",
            project.at("registry").display()
        ),
    );
}

#[test]
fn a_generated_package_is_built_from_the_published_crates() {
    let project = Project::package(FAULTY);
    registry(&project);
    let line = format!(
        "cegar-harness = {{ path = \"{}\" }}",
        root().join("harness").display()
    );
    let manifest = project.read("cegar/Cargo.toml");
    assert_eq!(manifest.matches(&line).count(), 1, "{manifest}");
    let version = format!("cegar-harness = \"{}\"", packaged().version);
    project.write("cegar/Cargo.toml", &manifest.replace(&line, &version));
    project.write(
        "cegar/tests/demo.rs",
        "use cegar_harness::*;\n\n#[test]\nfn one_too_far() {\n    \
         Mock::new(\"demo\").data(b\"go\").run().expect_safe();\n}\n",
    );
    let failing = cargo_test(&project.at("cegar"), &[]);
    assert!(
        failing.stdout.contains("1 failed") && failing.stdout.contains("c/demo.c:5"),
        "{failing}"
    );
    assert!(!project.read("cegar/Cargo.lock").contains("path+"));
    let source = project.read("c/demo.c");
    project.write("c/demo.c", &source.replace("data[size]", "data[size - 1]"));
    let passing = cargo_test(&project.at("cegar"), &[]);
    assert!(passing.stdout.contains("1 passed"), "{passing}");
}

/// A crate without `cegar/`, and another crate, `centre`, in the same workspace.
fn fresh(members: &str) -> Project {
    let project = Project::package(FAULTY);
    fs::remove_dir_all(project.at("cegar")).unwrap_or_else(|why| panic!("{why}"));
    project.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\
             {members}"
        ),
    );
    project.write(
        "centre/Cargo.toml",
        "[package]\nname = \"centre\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    project.write("centre/src/lib.rs", "");
    project
}

fn cargo(folder: &Path, words: &[&str]) -> Ended {
    let mut command = Command::new("cargo");
    command
        .args(words)
        .arg("--offline")
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", shared_target());
    let output = command.output().unwrap_or_else(|why| panic!("{why}"));
    Ended::of(&command, output)
}

/// Only one line depends on the place of `cegar-harness`. If that place does not exist, everything
/// else still builds.
#[test]
fn a_missing_harness_breaks_its_own_package_only() {
    let project = fresh("members = [\"ce*\"]\n");
    let init = Tool::new(project.path(), ["init"]).run();
    init.expect(exit::CLEAN)
        .expect_message("cargo test --manifest-path cegar/Cargo.toml")
        .expect_message("change that one line")
        .expect_message("excluded the package from the workspace");
    assert!(project.read("Cargo.toml").contains("exclude = [\"cegar\"]"));

    let manifest = project.read("cegar/Cargo.toml");
    let lines: Vec<&str> = manifest
        .lines()
        .filter(|line| line.starts_with("cegar-harness ="))
        .collect();
    assert_eq!(lines.len(), 1, "{manifest}");
    let gone = manifest.replace(lines[0], "cegar-harness = { path = \"/no/such/checkout\" }");
    project.write("cegar/Cargo.toml", &gone);

    cargo(project.path(), &["check", "--workspace"]).expect(0);
    Tool::new(project.path(), ["list"])
        .run()
        .expect(exit::CLEAN);
    let words = ["check", "--manifest-path", "cegar/Cargo.toml"];
    cargo(project.path(), &words)
        .expect(101)
        .expect_message("/no/such/checkout");
    // The same holds inside the package, where cargo itself fails.
    Tool::new(&project.at("cegar"), ["list"])
        .run()
        .expect(exit::CLEAN);
}

/// Packages that are members of the workspace, as earlier versions wrote them, still work.
#[test]
fn a_package_that_is_a_member_goes_on_working() {
    let project = Project::package(FAULTY);
    let root = project.read("Cargo.toml");
    project.write("Cargo.toml", &format!("{root}members = [\"cegar\"]\n"));
    let manifest = project.read("cegar/Cargo.toml");
    let path = manifest
        .lines()
        .find_map(|line| line.strip_prefix("cegar-harness = "))
        .unwrap_or_default()
        .to_owned();
    let member = manifest
        .replace(
            &format!("[workspace]\n\n[workspace.dependencies]\ncegar-harness = {path}\n"),
            "",
        )
        .replace(
            "cegar-harness.workspace = true",
            &format!("cegar-harness = {path}"),
        );
    assert!(!member.contains("workspace"), "{member}");
    project.write("cegar/Cargo.toml", &member);
    Tool::new(project.path(), ["run", "--runs", "100"])
        .run()
        .expect(exit::VIOLATION);
    for words in [
        &["--package", "demo-cegar"][..],
        &["--workspace"],
        &["--manifest-path", "cegar/Cargo.toml"],
    ] {
        let test = cargo_test(project.path(), words);
        assert!(test.stdout.contains("1 failed"), "{test}");
    }
    Tool::new(project.path(), ["init"])
        .run()
        .expect(exit::CLEAN);
    assert_eq!(project.read("cegar/Cargo.toml"), member);
}

/// As with cargo, the current folder selects the package; a folder in the package's `cegar/`
/// selects the same package.
#[test]
fn the_package_that_one_stands_in() {
    let project = Project::empty();
    project.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n",
    );
    for name in ["one", "two"] {
        project.write(
            &format!("{name}/Cargo.toml"),
            &format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        );
        project.write(&format!("{name}/src/lib.rs"), "");
        let inner = Project::package(FAULTY);
        for path in [
            "c/demo.c",
            "c/demo.h",
            "cegar/Cargo.toml",
            "cegar/cegar.toml",
            "cegar/harnesses/demo.c",
        ] {
            project.write(&format!("{name}/{path}"), &inner.read(path));
        }
        project.write(&format!("{name}/cegar/src/lib.rs"), "");
        let config = project.read(&format!("{name}/cegar/cegar.toml"));
        project.write(
            &format!("{name}/cegar/cegar.toml"),
            &config.replace("harness.demo", &format!("harness.of_{name}")),
        );
    }
    let list = |folder: &str, words: &[&str]| {
        Tool::new(&project.at(folder), ["list"].iter().chain(words)).run()
    };
    list(".", &[])
        .expect(exit::USAGE)
        .expect_message("choose with -p: one, two");
    for folder in ["two", "two/c", "two/cegar", "two/cegar/harnesses"] {
        let listed = list(folder, &[]);
        listed.expect(exit::CLEAN);
        assert!(listed.stdout.contains("of_two"), "{listed}");
    }
    for words in [
        &["-p", "one"][..],
        &["--manifest-path", "../../one/cegar/Cargo.toml"],
    ] {
        let listed = list("two/cegar", words);
        listed.expect(exit::CLEAN);
        assert!(listed.stdout.contains("of_one"), "{listed}");
    }
}
