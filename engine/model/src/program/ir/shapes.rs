//! The members of objects, according to their C types.
//!
//! For a reader of the C code, bytes 4 to 8 of `s` are `s.count`. A shape has only the names and
//! positions of members, not the meaning of their bytes.

/// An index into [`super::Program::shapes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShapeId(pub u32);

/// A type that has parts.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Its size in bits.
    pub bits: u64,
    /// The members, for a structure or a union.
    pub members: Vec<Member>,
    /// The size in bits and the shape of the elements, for an array.
    pub element: Option<(u64, Option<ShapeId>)>,
}

/// A member of a structure or a union.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name; empty for an anonymous structure or union, whose members C names like those of the
    /// outer type.
    pub name: String,
    /// Where it begins, in bits.
    pub at: u64,
    /// Its size in bits.
    pub bits: u64,
    /// Its own parts.
    pub shape: Option<ShapeId>,
}

impl Shape {
    /// The C expression that selects `bits` bits at bit `at` of an object of `whole` bits:
    /// `.count`, `[3].name`, empty for the whole object. `None` if these bits are no member.
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
