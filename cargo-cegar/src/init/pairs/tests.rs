use super::super::ctype;
use super::*;

fn params(params: &[(&str, &str)]) -> Vec<Parameter> {
    let params = params.iter().map(|(ty, name)| Parameter {
        name: (*name).to_owned(),
        ty: ctype::read(ty),
        bound: None,
        not_null: false,
    });
    params.collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<Option<usize>> {
    lengths(&Api::default(), &params(list))
}

#[test]
fn an_n_before_the_name_counts() {
    let of = |to: &str| pairs(&[(to, "iv"), ("unsigned long", "niv")]);
    assert_eq!(of("const struct entry *"), [Some(1), None]);
    // Only a run shows whether this is an array of pointers.
    assert_eq!(of("const int **"), [None, None]);
}

#[test]
fn what_stands_behind_a_copied_string_is_room() {
    let of = |name: &str| {
        let size = ("unsigned long", name);
        pairs(&[("char *", "to"), ("const char *", "from"), size])
    };
    assert_eq!(of("size"), [Some(2), None, None]);
    assert_eq!(
        of("n"),
        pairs(&[
            ("char *", "x"),
            ("const char *", "y"),
            ("unsigned long", "n")
        ])
    );
    assert_eq!(of("from_size"), [None, Some(2), None]);
}

#[test]
fn buffers_find_their_lengths() {
    assert_eq!(
        pairs(&[("const unsigned char *", "data"), ("unsigned long", "len")]),
        [Some(1), None]
    );
    assert_eq!(
        pairs(&[
            ("const char *", "src"),
            ("char *", "dst"),
            ("int", "srcSize"),
            ("int", "dstCapacity"),
            ("int", "acceleration"),
        ]),
        [Some(2), Some(3), None, None, None]
    );
    assert_eq!(
        pairs(&[
            ("char *", "dest"),
            ("unsigned int *", "destLen"),
            ("char *", "source"),
            ("unsigned int", "sourceLen"),
            ("int", "small"),
        ]),
        [Some(1), None, Some(3), None, None]
    );
    assert_eq!(
        pairs(&[("unsigned long", "n"), ("const void *", "")]),
        [None, Some(0)]
    );
    assert_eq!(
        pairs(&[("const struct part *", ""), ("unsigned long", "")]),
        [Some(1), None]
    );
    assert_eq!(
        pairs(&[("const char *", "name"), ("int", "flags")]),
        [None, None]
    );
    assert_eq!(
        pairs(&[
            ("struct header *", "headers"),
            ("unsigned long *", "num_headers")
        ]),
        [Some(1), None]
    );
    assert_eq!(
        pairs(&[
            ("const char *", "source"),
            ("char *", "dest"),
            ("int", "compressedSize"),
            ("int", "maxDecompressedSize"),
        ]),
        [Some(2), Some(3), None, None]
    );
}

#[test]
fn room_is_told_from_what_is_wanted() {
    assert_eq!(
        pairs(&[
            ("const char *", "src"),
            ("char *", "dst"),
            ("int", "compressedSize"),
            ("int", "targetOutputSize"),
            ("int", "maxOutputSize"),
            ("const char *", "dictStart"),
            ("int", "dictSize"),
        ]),
        [Some(2), Some(4), None, None, None, Some(6), None]
    );
    assert_eq!(
        pairs(&[
            ("const char *", "text"),
            ("unsigned long", "from"),
            ("unsigned long", "to"),
        ]),
        [None, None, None]
    );
    assert_eq!(
        pairs(&[
            ("const unsigned char *", "in"),
            ("unsigned long", "n"),
            ("unsigned char *", "out"),
            ("unsigned long", "out_n"),
        ]),
        [Some(1), None, Some(3), None]
    );
}

#[test]
fn an_array_as_declared_has_no_length_beside_it() {
    let param = |ty: &str, name: &str, bound: Option<&str>| Parameter {
        name: name.to_owned(),
        ty: ctype::read(ty),
        bound: bound.map(str::to_owned),
        not_null: false,
    };
    let params = [
        param("const unsigned char *", "stored", Some("128")),
        param("const char *", "name", None),
        param("unsigned long", "limit", None),
    ];
    assert_eq!(lengths(&Api::default(), &params), [None, None, None]);
    let params = [
        param("const unsigned char *", "stored", None),
        param("const char *", "name", None),
        param("unsigned long", "limit", None),
    ];
    assert_eq!(lengths(&Api::default(), &params), [Some(2), None, None]);
}

#[test]
fn options_for_what_ends_with_a_nul() {
    assert!(is_terminated_name("UTF_NULLTERM") && is_terminated_name("F_ZERO_TERMINATED"));
    assert!(!is_terminated_name("F_TERMINAL") && !is_terminated_name("NULL_OK"));
}

#[test]
fn numbers_that_are_no_lengths_are_left_alone() {
    // A position in the output is not its length, and a number after a name is not its length.
    assert_eq!(
        pairs(&[
            ("unsigned char *", "out"),
            ("unsigned long *", "out_pos"),
            ("unsigned long", "out_size"),
        ]),
        [Some(2), None, None]
    );
    assert_eq!(
        pairs(&[("int", "compcode"), ("const char **", "compname")]),
        [None, None]
    );
    assert_eq!(
        pairs(&[
            ("const char *", "src"),
            ("char *", "dst"),
            ("int", "compressedSize"),
            ("int", "dstCapacity"),
        ]),
        [Some(2), Some(3), None, None]
    );
    assert_eq!(
        pairs(&[
            ("const unsigned char *", "src"),
            ("unsigned long", "src_stride"),
            ("int", "width")
        ]),
        [None, None, None]
    );
    assert_eq!(
        pairs(&[
            ("const char *", "fname"),
            ("unsigned long", "buffer_size"),
            ("int", "is_read")
        ]),
        [None, None, None]
    );
    assert_eq!(
        pairs(&[("const char *", ""), ("unsigned long", "")]),
        [Some(1), None]
    );
    assert_eq!(
        pairs(&[("const char *", "tag"), ("int", "count")]),
        [None, None]
    );
    // The size of a unit, and the number of workers.
    assert_eq!(
        pairs(&[
            ("unsigned long", "typesize"),
            ("unsigned long", "nbytes"),
            ("const void *", "src"),
            ("void *", "dest"),
            ("unsigned long", "destsize"),
            ("const char *", "compressor"),
            ("unsigned long", "blocksize"),
            ("int", "numinternalthreads"),
        ]),
        [None, None, Some(1), Some(4), None, None, None, None]
    );
    assert_eq!(
        pairs(&[("const void *", "src"), ("int", "numthreads")]),
        [None, None]
    );
    assert_eq!(
        pairs(&[("const void *", "block"), ("unsigned long", "block_size")]),
        [Some(1), None]
    );
    assert_eq!(
        pairs(&[("const char *", "filepathname"), ("long", "face_index")]),
        [None, None]
    );
}

#[test]
fn arrays_share_a_number() {
    let share = |list: &[(&str, &str)]| {
        let params = params(list);
        let found = shared(&Api::default(), &params, &lengths(&Api::default(), &params));
        found.map(|shared| (shared.leader, shared.followers, shared.length))
    };
    let (floats, ints) = ("const float *", "const int *");
    let n = ("unsigned long", "n");
    assert_eq!(
        share(&[(floats, "a"), (floats, "b"), n]),
        Some((0, vec![1], 2))
    );
    assert_eq!(
        share(&[(ints, "in"), ("unsigned long", "count"), ("int *", "out")]),
        Some((0, vec![2], 1))
    );
    // Coefficients after the number, keys, and a number that belongs to one array only.
    assert_eq!(share(&[(floats, "x"), n, (floats, "coef")]), None);
    assert_eq!(
        share(&[
            ("const unsigned char *", "key"),
            ("const unsigned char *", "data"),
            n
        ]),
        None
    );
    assert_eq!(
        share(&[
            (floats, "a"),
            ("unsigned long", "na"),
            (floats, "b"),
            ("unsigned long", "nb")
        ]),
        None
    );
}

#[test]
fn numbers_count_bytes_bits_and_elements() {
    for (name, of) in [
        ("nbytes", Unit::Bytes),
        ("size_in_bytes", Unit::Bytes),
        ("nbits", Unit::Bits),
        ("count", Unit::Elements),
    ] {
        assert_eq!(unit(name), of, "{name}");
    }
    assert_eq!(
        pairs(&[
            ("unsigned int *", "dst"),
            ("unsigned int", "value"),
            ("unsigned long", "n")
        ]),
        [Some(2), None, None]
    );
    assert_eq!(
        pairs(&[("const int *", "values"), ("unsigned char", "count")]),
        [Some(1), None]
    );
}
