//! How an object is divided into members, as its C type says.
//!
//! Bytes 4 to 8 of `s` are `s.count` to a reader of the C code. Only names and places are kept, not
//! what the bytes mean.

/// An index into [`super::Program::shapes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShapeId(pub u32);

/// A type that has parts.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Its size.
    pub bits: u64,
    /// Of a structure or a union: its members.
    pub members: Vec<Member>,
    /// Of an array: its elements' size and shape.
    pub element: Option<(u64, Option<ShapeId>)>,
}

/// A member of a structure or a union.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name; empty where C lets its members be named as the outer type's.
    pub name: String,
    /// Where it begins.
    pub at: u64,
    /// Its size.
    pub bits: u64,
    /// Its own parts.
    pub shape: Option<ShapeId>,
}

impl Shape {
    /// How C selects `bits` bits at bit `at` of an object of `whole` bits: `.count`, `[3].name`,
    /// empty for all of it. None where that is no member.
    pub fn selector(
        shapes: &[Shape],
        shape: Option<ShapeId>,
        whole: u64,
        at: u64,
        bits: u64,
    ) -> Option<String> {
        if at == 0 && bits == whole {
            return Some(String::new());
        }
        let shape = shapes.get(shape?.0 as usize)?;
        if let Some((each, element)) = shape.element {
            let index = at.checked_div(each)?;
            let inner = Shape::selector(shapes, element, each, at % each, bits)?;
            return Some(format!("[{index}]{inner}"));
        }
        let end = at.checked_add(bits)?;
        let around = |m: &&Member| m.at <= at && end <= m.at.saturating_add(m.bits);
        shape.members.iter().filter(around).find_map(|member| {
            let inner = Shape::selector(shapes, member.shape, member.bits, at - member.at, bits)?;
            Some(match member.name.as_str() {
                "" => inner,
                name => format!(".{name}{inner}"),
            })
        })
    }
}
