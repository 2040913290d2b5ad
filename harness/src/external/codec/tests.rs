use super::*;
use crate::external::Member;

fn pointer(to: &str, many: bool) -> Holds {
    Holds::Pointer(Pointee {
        to: Some(to.to_owned()),
        many,
        constant: false,
    })
}

fn member(name: &str, offset: usize, holds: Holds) -> Member {
    Member {
        name: name.to_owned(),
        offset,
        holds,
    }
}

#[test]
fn objects_are_read_to_any_depth() {
    let int = Holds::Int {
        size: 4,
        signed: true,
    };
    let types = [ObjectType {
        name: "node".to_owned(),
        size: 16,
        members: vec![
            member("next", 0, pointer("node", false)),
            member("value", 8, int),
        ],
        opaque: false,
    }];
    let types = Types(&types);
    let Holds::Pointer(pointee) = pointer("node", false) else {
        return;
    };
    let plan = types.plan(&types.0[0]);
    assert_eq!(plan.chosen, [(8, 8)]);
    let bytes = [
        &[1][..],
        &[7, 0, 0, 0, 0, 0, 0, 0],
        &[1],
        &[9, 0, 0, 0, 0, 0, 0, 0],
        &[2, 99],
    ]
    .concat();
    let mut rest = &bytes[..];
    let Some(ReadObject::Fresh(first)) = types.read(&pointee, &mut rest) else {
        panic!("{bytes:?}")
    };
    assert_eq!(rest, [99]);
    assert_eq!(first[0].0[8], 7);
    let ReadObject::Fresh(second) = &first[0].1[0].1 else {
        panic!("{first:?}")
    };
    assert_eq!(
        (second[0].0[8], &second[0].1[0].1),
        (9, &ReadObject::Earlier(0))
    );
}
