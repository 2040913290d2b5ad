//! Random types, and functions that hand out objects of these types.
//!
//! They are described as the tool describes a program's types. The C program uses only their
//! offsets.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::channel::Shape;
use crate::external::{CountedPointer, Holds, Member, ObjectType, Pointee, Signature, Types};
use crate::mocked::MockedFunction;

/// The number of structures in one set.
const STRUCTURES: usize = 10;
/// A structure of more bytes than this is not used as a member of another structure.
const LARGEST: usize = 96;
/// The names of the other types. The last one has no description.
const OTHERS: [&str; 9] = [
    "int", "char", "double", "pointer", "bytes", "hidden", "empty", "crowd", "nobody",
];

/// A set of types and functions.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub types: Vec<ObjectType>,
    pub functions: Vec<MockedFunction>,
}

impl World {
    /// The channels of all functions, and of the functions that objects point to.
    pub(super) fn channels(&self) -> Vec<String> {
        let mut all = Vec::new();
        for function in &self.functions {
            all.push(function.name.clone());
            let params = function.signature.iter().flat_map(|s| &s.params);
            all.extend((1..=params.count()).map(|i| format!("{}:{i}", function.name)));
            all.push(format!("{}.result", function.name));
        }
        let members = self.functions.iter().flat_map(MockedFunction::members);
        all.extend(members.map(|member| member.name));
        all.sort();
        all.dedup();
        all
    }
}

/// A function without parameters that returns a number.
pub(super) fn callee() -> Signature {
    signature(Some(int(4, true)), Vec::new())
}

fn signature(returns: Option<Holds>, params: Vec<Holds>) -> Signature {
    Signature {
        returns,
        params,
        varargs: false,
        rows: Vec::new(),
    }
}

fn int(size: usize, signed: bool) -> Holds {
    Holds::Int { size, signed }
}

fn to(name: &str, many: bool) -> Holds {
    Holds::Pointer(Pointee {
        to: Some(name.to_owned()),
        many,
        constant: false,
    })
}

fn array(count: usize, of: Holds) -> Holds {
    let of = Box::new(of);
    Holds::Array { count, of }
}

fn scalar() -> impl Strategy<Value = Holds> {
    prop_oneof![
        (0..4u32, any::<bool>()).prop_map(|(log, signed)| int(1 << log, signed)),
        Just(Holds::Bool),
        prop_oneof![Just(4), Just(8)].prop_map(|size| Holds::Float { size }),
        (1..9usize).prop_map(Holds::Bytes),
    ]
}

fn target() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        6 => (0..STRUCTURES).prop_map(|i| Some(format!("s{i}"))),
        4 => (0..OTHERS.len()).prop_map(|i| Some(OTHERS[i].to_owned())),
        1 => Just(None),
    ]
}

fn pointer() -> impl Strategy<Value = Holds> {
    (target(), any::<bool>()).prop_map(|(to, many)| {
        Holds::Pointer(Pointee {
            to,
            many,
            constant: false,
        })
    })
}

/// What a member holds. For a structure, [`settle`] decides later which one.
fn held() -> impl Strategy<Value = Holds> {
    let structure = || (0..STRUCTURES).prop_map(|i| Holds::Struct(i.to_string()));
    prop_oneof![
        4 => scalar(),
        4 => pointer(),
        1 => Just(Holds::Code(Box::new(callee()))),
        1 => structure(),
        2 => (1..4usize, prop_oneof![scalar(), pointer(), structure()])
            .prop_map(|(count, of)| array(count, of)),
    ]
}

/// Replaces placeholders for structures: a structure contains only earlier and small ones.
fn settle(holds: Holds, before: &[ObjectType]) -> Holds {
    match holds {
        Holds::Struct(number) => {
            let number = number.parse::<usize>().unwrap_or(0);
            match before.get(number % before.len().max(1)) {
                Some(object) if object.size <= LARGEST => Holds::Struct(object.name.clone()),
                _ => int(4, true),
            }
        }
        Holds::Array { count, of } => array(count, settle(*of, before)),
        other => other,
    }
}

fn object(name: &str, size: usize, members: Vec<Member>) -> ObjectType {
    ObjectType {
        name: name.to_owned(),
        size,
        members,
        opaque: false,
    }
}

fn alone(name: &str, size: usize, holds: Holds) -> ObjectType {
    let member = Member {
        name: String::new(),
        offset: 0,
        holds,
    };
    object(name, size, vec![member])
}

/// A structure. Members that are marked are aligned to 8 bytes, the others are packed.
fn structure(name: &str, members: Vec<(Holds, bool)>, before: &[ObjectType]) -> ObjectType {
    let (mut at, mut all) = (0usize, Vec::new());
    for (i, (holds, is_aligned)) in members.into_iter().enumerate() {
        let holds = settle(holds, before);
        let size = Types(before).size(&holds);
        if is_aligned {
            at = at.next_multiple_of(8);
        }
        all.push(Member {
            name: format!("m{i}"),
            offset: at,
            holds,
        });
        at += size;
    }
    object(name, at, all)
}

fn others() -> Vec<ObjectType> {
    let crowd = Member {
        name: "all".to_owned(),
        offset: 8,
        holds: array(70, to("int", false)),
    };
    let hidden = ObjectType {
        opaque: true,
        ..object("hidden", 0, Vec::new())
    };
    vec![
        alone("int", 4, int(4, true)),
        alone("char", 1, int(1, true)),
        alone("double", 8, Holds::Float { size: 8 }),
        alone("pointer", 8, to("s1", false)),
        alone("bytes", 13, Holds::Bytes(13)),
        hidden,
        object("empty", 0, Vec::new()),
        object("crowd", 8 + 70 * 8, vec![crowd]),
    ]
}

/// Functions of each sort, for random target types.
fn functions(
    types: &[ObjectType],
    targets: Vec<Holds>,
    arguments: Vec<Vec<Holds>>,
) -> Vec<MockedFunction> {
    let described = |name: String, returns, signature| MockedFunction {
        signature: Some(signature),
        types: types.to_vec(),
        ..MockedFunction::returning(&name, returns)
    };
    let pointer = Shape::Pointer { size: 8 };
    let mut all = Vec::new();
    for (i, holds) in targets.into_iter().enumerate() {
        let gets = signature(Some(holds.clone()), Vec::new());
        all.push(described(format!("get{i}"), pointer, gets));
        let fills = signature(None, vec![holds.clone()]);
        all.push(MockedFunction {
            outputs: vec![0],
            ..described(format!("fill{i}"), Shape::Void, fills)
        });
        let rows = Signature {
            rows: vec![CountedPointer { param: 0, count: 1 }],
            ..signature(None, vec![holds, int(4, true)])
        };
        all.push(described(format!("rows{i}"), Shape::Void, rows));
    }
    for (i, params) in arguments.into_iter().enumerate() {
        let callback = Holds::Code(Box::new(signature(None, params)));
        let mut params = vec![callback];
        if i % 2 == 0 {
            params.push(Holds::Pointer(Pointee {
                to: None,
                many: false,
                constant: false,
            }));
        }
        let calls = signature(None, params);
        all.push(described(format!("calls{i}"), Shape::Void, calls));
    }
    let code = signature(Some(Holds::Code(Box::new(callee()))), Vec::new());
    all.push(described("hook".to_owned(), pointer, code));
    for (size, may_return_any_address) in [(3, false), (0, false), (24, true)] {
        all.push(MockedFunction {
            may_return_any_address,
            ..MockedFunction::returning(&format!("plain{size}"), Shape::Pointer { size })
        });
    }
    all
}

pub(super) fn worlds() -> impl Strategy<Value = World> {
    let members = vec((held(), prop::bool::weighted(0.7)), 0..6);
    let argument = prop_oneof![
        (0..4u32, any::<bool>()).prop_map(|(log, signed)| int(1 << log, signed)),
        Just(Holds::Bool),
        pointer(),
        Just(Holds::Code(Box::new(callee()))),
    ];
    (
        vec(members, STRUCTURES),
        vec(pointer(), 12),
        vec(vec(argument, 0..4), 6),
    )
        .prop_map(|(structures, targets, arguments)| {
            let mut types: Vec<ObjectType> = Vec::new();
            for (i, members) in structures.into_iter().enumerate() {
                types.push(structure(&format!("s{i}"), members, &types));
            }
            types.extend(others());
            types.push(ObjectType::unknown());
            let functions = functions(&types, targets, arguments);
            World { types, functions }
        })
}
