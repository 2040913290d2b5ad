//! Tests of the source of tests for each kind of finding, and of the handling of existing tests.

use std::path::Path;

use cegar_harness::build::MockedFunction;
use cegar_harness::channel::Shape;
use cegar_harness::external::{Holds, Member, ObjectType, Pointee, Signature};

use super::package::{Dependency, Emitted, Package, add_test, create, test_file};
use super::{Finding, standalone, test_source};

fn finding(events: &[(&str, &[u8])]) -> Finding {
    Finding {
        harness: "parse_header".to_owned(),
        test: "write_past_end_head_c_88".to_owned(),
        what: "write past the end of `name` (16 bytes) by 1 byte".to_owned(),
        file: "c/head.c".to_owned(),
        line: 88,
        found_by: "partial simulation".to_owned(),
        explanation: String::new(),
        events: events
            .iter()
            .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()))
            .collect(),
        mocked: Vec::new(),
    }
}

fn mocked(name: &str, returns: Shape, may_return_any_address: bool) -> MockedFunction {
    MockedFunction {
        may_return_any_address,
        ..MockedFunction::returning(name, returns)
    }
}

#[test]
fn characters_from_stdin() {
    let mut finding = finding(&[]);
    finding.events = b"GET "
        .iter()
        .chain(&[b'a'; 513])
        .map(|byte| ("stdin".to_owned(), vec![*byte]))
        .collect();
    finding.events.push(("stdin".to_owned(), vec![0xFF]));
    finding.events.push(("stdin".to_owned(), vec![0x00]));
    insta::assert_snapshot!(test_source(&finding), @r#"
    /// c/head.c:88: write past the end of `name` (16 bytes) by 1 byte. Found by partial simulation.
    #[test]
    fn write_past_end_head_c_88() {
        Mock::new("parse_header")
            .stdin(b"GET ".then(repeat(b'a', 513)))
            .run()
            .expect_safe();
    }
    "#);
}

#[test]
fn environment_files_and_arguments() {
    let finding = finding(&[
        ("argc", &[2]),
        ("argv:1", b"-f\0"),
        ("argv:2", b"rc\0"),
        ("env:HOME", &[1]),
        ("env:HOME", b"/root\0"),
        ("env:TERM", &[0]),
        ("file:rc", &[3]),
        ("file:rc", b"x=1\n\xff\xff"),
    ]);
    insta::assert_snapshot!(test_source(&finding), @r#"
    /// c/head.c:88: write past the end of `name` (16 bytes) by 1 byte. Found by partial simulation.
    #[test]
    fn write_past_end_head_c_88() {
        Mock::new("parse_header")
            .args([&b"-f"[..], &b"rc"[..]])
            .env("HOME", b"/root")
            .no_env("TERM")
            .file("rc", b"x=1\n\xff")
            .run()
            .expect_safe();
    }
    "#);
}

#[test]
fn numbers_have_their_types() {
    let mut finding = finding(&[
        ("__VERIFIER_nondet_int", &[3, 0, 0, 0]),
        ("__VERIFIER_nondet_int", &[255, 255, 255, 255]),
        ("uint", &[0, 0, 0, 0x80]),
        ("bool", &[3]),
        ("bool", &[2]),
        ("double", &1.5f64.to_le_bytes()),
        ("float", &f32::NAN.to_le_bytes()),
        ("port", &[0xe8, 0xfd]),
        ("unknown", &[1, 2, 3]),
    ]);
    finding.mocked = vec![mocked(
        "port",
        Shape::Int {
            size: 2,
            signed: false,
        },
        false,
    )];
    insta::assert_snapshot!(test_source(&finding), @r#"
    /// c/head.c:88: write past the end of `name` (16 bytes) by 1 byte. Found by partial simulation.
    #[test]
    fn write_past_end_head_c_88() {
        Mock::new("parse_header")
            .returns("__VERIFIER_nondet_int", [3, -1])
            .returns("uint", [2147483648u32])
            .returns("bool", [true, false])
            .returns("double", [1.5])
            .returns("float", [f32::from_bits(0x7fc00000)])
            .returns("port", [65000])
            .choices("unknown", b"\x01\x02\x03")
            .run()
            .expect_safe();
    }
    "#);
}

#[test]
fn data_of_a_fuzz_target() {
    let data = [
        b"\x7fREC".as_slice(),
        &[0; 30],
        &b"\x01\x02".repeat(12),
        b" end",
    ]
    .concat();
    let mut finding = finding(&[("data", &data)]);
    finding.explanation = "The length field is 30, the buffer has 16 bytes.".to_owned();
    insta::assert_snapshot!(test_source(&finding), @r#"
    /// c/head.c:88: write past the end of `name` (16 bytes) by 1 byte. Found by partial simulation.
    ///
    /// The length field is 30, the buffer has 16 bytes.
    #[test]
    fn write_past_end_head_c_88() {
        Mock::new("parse_header")
            .data(b"\x7fREC".then(repeat(0, 30)).then(b"\x01\x02".repeat(12)).then(b" end"))
            .run()
            .expect_safe();
    }
    "#);
}

#[test]
fn objects_from_outside() {
    let mut finding = finding(&[
        ("usb_get_interface", &[1]),
        ("usb_get_interface", &[17, 0, 0, 0]),
        ("usb_get_interface", &[2]),
        ("usb_get_interface", &[0]),
        ("usb_address", &[2]),
        ("usb_address", &[0, 0x10, 0, 0, 0, 0, 0, 0]),
    ]);
    finding.mocked = vec![
        mocked("usb_get_interface", Shape::Pointer { size: 4 }, false),
        mocked("usb_address", Shape::Pointer { size: 8 }, true),
    ];
    insta::assert_snapshot!(test_source(&finding), @r#"
    /// c/head.c:88: write past the end of `name` (16 bytes) by 1 byte. Found by partial simulation.
    #[test]
    fn write_past_end_head_c_88() {
        Mock::new("parse_header")
            .returns_bytes("usb_get_interface", b"\x11\0\0\0")
            .returns_earlier("usb_get_interface", 0)
            .returns_null("usb_get_interface")
            .returns_address("usb_address", 0x1000)
            .run()
            .expect_safe();
    }
    "#);
}

#[test]
fn tests_are_added_and_never_rewritten() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let first = finding(&[("stdin", b"a}\"{")]);
    let second = Finding {
        test: "other".to_owned(),
        ..first.clone()
    };
    assert_eq!(add_test(folder.path(), &first)?, Emitted::Written);
    assert_eq!(add_test(folder.path(), &second)?, Emitted::Written);
    assert_eq!(add_test(folder.path(), &first)?, Emitted::AlreadyThere);

    let path = test_file(folder.path(), "parse_header");
    let text = std::fs::read_to_string(&path)?;
    assert!(text.starts_with(
        "//! What `cargo cegar` found in `parse_header`.\n\nuse cegar_harness::*;\n\n/// c/"
    ));
    assert_eq!(text.matches("#[test]").count(), 2);

    // A changed layout is not an edit, but a changed input is.
    std::fs::write(&path, text.replace("    ", "  "))?;
    assert_eq!(add_test(folder.path(), &second)?, Emitted::AlreadyThere);
    let edited = text.replacen("a}", "b}", 1);
    std::fs::write(&path, &edited)?;
    assert_eq!(add_test(folder.path(), &first)?, Emitted::EditedByUser);
    assert_eq!(add_test(folder.path(), &second)?, Emitted::AlreadyThere);
    assert_eq!(std::fs::read_to_string(&path)?, edited);

    // A test with this name that a person wrote belongs to that person.
    let third = Finding {
        test: "mine".to_owned(),
        ..first
    };
    std::fs::write(&path, edited + "\n#[test]\nfn mine() {}\n")?;
    assert_eq!(add_test(folder.path(), &third)?, Emitted::EditedByUser);
    Ok(())
}

#[test]
fn a_package_is_completed_and_not_overwritten() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("cegar.toml"), "# mine\n")?;
    let package = Package {
        name: "codec-cegar".to_owned(),
        dependency: Dependency::Version("0.1.0".to_owned()),
        config: "[c]\n".to_owned(),
    };
    assert_eq!(create(folder.path(), &package)?.len(), 4);
    assert_eq!(create(folder.path(), &package)?.len(), 0);
    assert_eq!(
        std::fs::read_to_string(folder.path().join("cegar.toml"))?,
        "# mine\n"
    );
    Ok(())
}

#[test]
fn a_checked_file_becomes_a_package_whose_test_fails_until_it_is_mended()
-> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("copy.c");
    let text = "#include <stdio.h>\nint main(void) {\n    char line[ROOM];\n    int c, n = 0;\n    \
        while ((c = getchar()) != EOF)\n        if (n < 100) line[n++] = c;\n    return n ? \
        line[0] : 0;\n}\n";
    let package = folder.path().join("test");
    let build = |room: u32| -> Result<cegar_harness::build::Built, Box<dyn std::error::Error>> {
        std::fs::write(&file, text.replace("ROOM", &room.to_string()))?;
        let checked = standalone::CheckedProgram {
            name: "copy".to_owned(),
            units: vec![cegar_harness::build::Unit {
                file: file.clone(),
                args: vec!["-DN=1".to_owned()],
                directory: Path::new("/").to_owned(),
            }],
            entry: None,
            properties: vec!["memory".to_owned()],
            argv: 0,
            mocked: Vec::new(),
        };
        standalone::write(&package, &checked, Dependency::of_this_tool())?;
        let build = cegar_harness::build::Build::from_package(&package, "harnesses")?;
        Ok(build
            .out_dir(folder.path().join("out"))
            .try_compile()?
            .remove(0))
    };
    let found = Finding {
        harness: "copy".to_owned(),
        ..finding(&[("stdin", &[b'a'; 60])])
    };
    let broken = build(50)?;
    if broken.sanitizers.is_empty() {
        return Ok(());
    }
    let run = found.replay(&broken.runner);
    assert!(run.outcome().is_violation(), "{}", run.story());
    assert_eq!(run.outcome().place().map(|place| place.line), Some(6));
    found.replay(&build(100)?.runner).expect_safe();
    Ok(())
}

/// A function that returns an interface with endpoints, and one that writes a number through its
/// second parameter.
fn usb() -> Vec<MockedFunction> {
    let int = |size, signed| Holds::Int { size, signed };
    let pointer = |to: &str, many| {
        Holds::Pointer(Pointee {
            to: Some(to.to_owned()),
            many,
            constant: false,
        })
    };
    let object = |name: &str, size, members: Vec<(&str, usize, Holds)>| ObjectType {
        name: name.to_owned(),
        size,
        members: members
            .into_iter()
            .map(|(name, offset, holds)| Member {
                name: name.to_owned(),
                offset,
                holds,
            })
            .collect(),
        opaque: false,
    };
    let function = |name: &str, returns, signature, types| MockedFunction {
        signature: Some(signature),
        types,
        ..MockedFunction::returning(name, returns)
    };
    vec![
        function(
            "usb_interface",
            Shape::Pointer { size: 16 },
            Signature {
                returns: Some(pointer("interface", false)),
                params: vec![int(4, true)],
                varargs: false,
                rows: Vec::new(),
            },
            vec![
                object("endpoint", 1, vec![("address", 0, int(1, false))]),
                object(
                    "interface",
                    16,
                    vec![
                        ("ep", 0, pointer("interface", false)),
                        ("count", 8, int(4, false)),
                        ("type", 12, int(2, true)),
                    ],
                ),
            ],
        ),
        function(
            "usb_length",
            Shape::Int {
                size: 4,
                signed: true,
            },
            Signature {
                returns: Some(int(4, true)),
                params: vec![int(4, true), pointer("unsigned_int", false)],
                varargs: false,
                rows: Vec::new(),
            },
            vec![object("unsigned_int", 4, vec![("", 0, int(4, false))])],
        ),
    ]
}

#[test]
fn typed_objects_and_parameters() -> Result<(), Box<dyn std::error::Error>> {
    let mut finding = finding(&[
        ("usb_interface", &[1]),
        ("usb_interface", &[2, 0, 0, 0, 0xff, 0xff, 0, 0]),
        ("usb_interface", &[4]),
        ("usb_interface", &[3, 0, 0, 0, 0, 0, 0, 0]),
        ("usb_interface", &[2]),
        ("usb_length:2", &[0]),
        ("usb_length", &[0, 0, 0, 0]),
        ("usb_length:2", &[1]),
        ("usb_length:2", &[39, 0, 0, 0]),
        ("usb_length", &[1, 0, 0, 0]),
        ("usb_length:2", &[0]),
        ("usb_length", &[0, 0, 0, 0]),
    ]);
    finding.mocked = usb();
    insta::assert_snapshot!(test_source(&finding), @r#"
    /// c/head.c:88: write past the end of `name` (16 bytes) by 1 byte. Found by partial simulation.
    #[test]
    fn write_past_end_head_c_88() {
        Mock::new("parse_header")
            .returns_object(
                "usb_interface",
                interface {
                    ep: object(interface {
                        ep: earlier(0),
                        count: 3,
                        ..zeroed()
                    }),
                    count: 2,
                    r#type: -1,
                },
            )
            .leaves("usb_length", 2)
            .writes("usb_length", 2, 39u32)
            .returns("usb_length", [0, 1, 0])
            .run()
            .expect_safe();
    }
    "#);
    let folder = tempfile::tempdir()?;
    add_test(folder.path(), &finding)?;
    let other = Finding {
        test: "other".to_owned(),
        ..finding
    };
    add_test(folder.path(), &other)?;
    let text = std::fs::read_to_string(test_file(folder.path(), "parse_header"))?;
    assert_eq!(
        text.matches("    struct interface {\n").count(),
        1,
        "{text}"
    );
    assert!(
        text.contains("        ep: *mut interface,\n        count: u32,\n"),
        "{text}"
    );
    Ok(())
}
