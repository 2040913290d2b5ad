//! What the crate's Rust code declares of the library.

use std::collections::HashMap;

use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{
    Expr, Fields, ForeignItem, GenericArgument, Item, Lit, Meta, PathArguments, ReturnType, Type,
    UnOp, Visibility,
};

use super::conditions::Conditions;
use super::files::Tree;
use super::names::{At, Meaning, Names, outside};
use super::shape::{Enumeration, Field, Function, Line, Record, Shape, Signature, Types};

/// All that is declared.
#[derive(Debug, Default)]
pub(super) struct Declared {
    pub functions: Vec<Function>,
    pub types: Types,
    /// Constants with a number that is plain to see.
    pub constants: Vec<(String, i128, Line)>,
    pub left_out: Vec<(Line, String)>,
}

/// How deep types are followed.
const DEPTH: u32 = 24;

/// Reads the declarations of a crate.
pub(super) fn declared(tree: Tree, conditions: &Conditions) -> Declared {
    let names = Names::new(&tree);
    let mut reader = Reader {
        tree: &tree,
        names,
        conditions,
        types: Types::default(),
        busy: Vec::new(),
    };
    let mut all = Declared::default();
    for (module, content) in tree.modules.iter().enumerate() {
        for placed in &content.items {
            match &placed.item {
                Item::ForeignMod(block) => reader.block(module, placed.file, block, &mut all),
                Item::Const(item) => {
                    if let Some(value) = number(&item.expr) {
                        let line = reader.line(placed.file, item.ident.span());
                        all.constants.push((item.ident.to_string(), value, line));
                    }
                }
                _ => {}
            }
        }
    }
    all.types = reader.types;
    all.left_out.extend(tree.left_out);
    all
}

struct Reader<'t> {
    tree: &'t Tree,
    names: Names<'t>,
    conditions: &'t Conditions,
    types: Types,
    /// Structures whose layout is being computed.
    busy: Vec<String>,
}

impl Reader<'_> {
    fn line(&self, file: usize, span: proc_macro2::Span) -> Line {
        Line {
            file: self.tree.files[file].clone(),
            line: span.start().line as u32,
        }
    }

    fn block(
        &mut self,
        module: usize,
        file: usize,
        block: &syn::ItemForeignMod,
        all: &mut Declared,
    ) {
        let abi = block.abi.name.as_ref().map(|name| name.value());
        let is_c = abi.as_deref().is_none_or(is_c);
        for item in &block.items {
            match item {
                ForeignItem::Fn(function) => {
                    let place = self.line(file, function.sig.ident.span());
                    match self.conditions.hold(&function.attrs) {
                        Some(true) => {}
                        Some(false) => continue,
                        None => {
                            let why =
                                "whether it is compiled depends on a condition that is not known";
                            all.left_out.push((place, why.to_owned()));
                            continue;
                        }
                    }
                    if !is_c {
                        let abi = abi.clone().unwrap_or_default();
                        all.left_out
                            .push((place, format!("it is called as \"{abi}\" says")));
                        continue;
                    }
                    let params = function.sig.inputs.iter().map(|input| match input {
                        syn::FnArg::Typed(typed) => self.shape(module, &typed.ty, 0),
                        syn::FnArg::Receiver(_) => Shape::Unknown("`self`".to_owned()),
                    });
                    let signature = Signature {
                        params: params.collect(),
                        returns: self.result(module, &function.sig.output, 0),
                        variadic: function.sig.variadic.is_some(),
                        is_c: true,
                    };
                    let name = self.symbol(&function.attrs, &function.sig.ident);
                    all.functions.push(Function {
                        name,
                        signature,
                        place,
                    });
                }
                ForeignItem::Macro(call) => {
                    let place = self.line(file, call.span());
                    all.left_out
                        .push((place, "it is made by a macro".to_owned()));
                }
                _ => {}
            }
        }
    }

    /// The name that the linker sees.
    fn symbol(&self, attributes: &[syn::Attribute], ident: &syn::Ident) -> String {
        let named = self.conditions.attributes(attributes);
        let named = named.iter().find_map(|meta| match meta {
            Meta::NameValue(pair) if pair.path.is_ident("link_name") => match &pair.value {
                Expr::Lit(literal) => match &literal.lit {
                    Lit::Str(text) => Some(text.value()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        });
        let plain = || ident.to_string().trim_start_matches("r#").to_owned();
        // bindgen marks a name that is to be taken as it is.
        named.map_or_else(plain, |name| name.trim_start_matches('\u{1}').to_owned())
    }

    fn result(&mut self, module: usize, output: &ReturnType, depth: u32) -> Shape {
        match output {
            ReturnType::Default => Shape::Void,
            ReturnType::Type(_, ty) => match &**ty {
                Type::Never(_) => Shape::Void,
                Type::Tuple(tuple) if tuple.elems.is_empty() => Shape::Void,
                ty => self.shape(module, ty, depth),
            },
        }
    }

    /// A type, in our words.
    fn shape(&mut self, module: usize, ty: &Type, depth: u32) -> Shape {
        let unknown = || Shape::Unknown(format!("the type `{}`", ty.to_token_stream()));
        if depth > DEPTH {
            return unknown();
        }
        match ty {
            Type::Paren(inner) => self.shape(module, &inner.elem, depth),
            Type::Group(inner) => self.shape(module, &inner.elem, depth),
            Type::Ptr(pointer) => {
                let constant = pointer.const_token.is_some();
                self.pointer(module, &pointer.elem, constant, depth)
            }
            Type::Reference(reference) => {
                let constant = reference.mutability.is_none();
                self.pointer(module, &reference.elem, constant, depth)
            }
            Type::BareFn(function) => {
                Shape::Code(Some(Box::new(self.code(module, function, depth))))
            }
            Type::Array(array) => {
                match number(&array.len).or_else(|| self.constant(module, &array.len)) {
                    Some(count) if count >= 0 => Shape::Array {
                        of: Box::new(self.shape(module, &array.elem, depth + 1)),
                        count: count as u64,
                    },
                    _ => unknown(),
                }
            }
            Type::Never(_) => Shape::Void,
            Type::Tuple(tuple) if tuple.elems.is_empty() => Shape::Void,
            Type::Path(path) if path.qself.is_none() => self.path(module, &path.path, depth),
            _ => unknown(),
        }
    }

    fn pointer(&mut self, module: usize, to: &Type, constant: bool, depth: u32) -> Shape {
        // A slice, a string and a trait object are two words each.
        let is_wide = match to {
            Type::Slice(_) | Type::TraitObject(_) => true,
            Type::Path(path) => path.path.is_ident("str") || path.path.is_ident("CStr"),
            _ => false,
        };
        if is_wide {
            return Shape::Unknown(format!("a pointer to `{}`", to.to_token_stream()));
        }
        Shape::pointer(self.shape(module, to, depth + 1), constant)
    }

    fn code(&mut self, module: usize, function: &syn::TypeBareFn, depth: u32) -> Signature {
        let abi = function.abi.as_ref();
        let params = function
            .inputs
            .iter()
            .map(|input| self.shape(module, &input.ty, depth + 1));
        Signature {
            params: params.collect(),
            returns: self.result(module, &function.output, depth + 1),
            variadic: function.variadic.is_some(),
            is_c: abi.is_some_and(|abi| abi.name.as_ref().is_none_or(|name| is_c(&name.value()))),
        }
    }

    fn path(&mut self, module: usize, path: &syn::Path, depth: u32) -> Shape {
        let parts: Vec<String> = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        let last = parts.last().cloned().unwrap_or_default();
        let inner = path.segments.last().and_then(|part| match &part.arguments {
            PathArguments::AngleBracketed(list) => {
                list.args.iter().find_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                })
            }
            _ => None,
        });
        let meaning = self.names.meaning(module, &parts);
        if let (Some(Meaning::Outside(_)) | None, Some(inner)) = (&meaning, inner) {
            return match last.as_str() {
                "Option" => match self.shape(module, inner, depth + 1) {
                    shape @ (Shape::Pointer { .. } | Shape::Code(_)) => shape,
                    _ => Shape::Unknown("an `Option` of something else than a pointer".to_owned()),
                },
                "NonNull" | "Box" => self.pointer(module, inner, false, depth),
                "MaybeUninit" | "ManuallyDrop" | "UnsafeCell" | "Cell" | "SyncUnsafeCell" => {
                    self.shape(module, inner, depth + 1)
                }
                "PhantomData" => Shape::Array {
                    of: Box::new(Shape::int(1, false)),
                    count: 0,
                },
                _ => Shape::Unknown(format!("the type `{last}` with parameters")),
            };
        }
        match meaning {
            Some(Meaning::Item(at)) => self.item(at, inner.map(|inner| (module, inner)), depth),
            Some(Meaning::Outside(name)) => outside(&name)
                .unwrap_or_else(|| Shape::Unknown(format!("the type `{name}` of another crate"))),
            None => Shape::Unknown(format!("the type `{last}`")),
        }
    }

    /// A type that the crate defines.
    fn item(&mut self, at: At, inner: Option<(usize, &Type)>, depth: u32) -> Shape {
        let tree = self.tree;
        let placed = &tree.modules[at.0].items[at.1];
        match &placed.item {
            Item::Type(alias) if alias.generics.params.is_empty() => {
                self.shape(at.0, &alias.ty, depth + 1)
            }
            Item::Struct(item) if !item.generics.params.is_empty() => {
                // What bindgen writes for bit-fields and open arrays.
                match (item.ident.to_string().as_str(), inner) {
                    ("__BindgenBitfieldUnit", Some((module, inner))) => {
                        self.shape(module, inner, depth + 1)
                    }
                    ("__IncompleteArrayField", Some((module, inner))) => Shape::Array {
                        of: Box::new(self.shape(module, inner, depth + 1)),
                        count: 0,
                    },
                    ("__BindgenUnionField", _) => Shape::Array {
                        of: Box::new(Shape::int(1, false)),
                        count: 0,
                    },
                    (name, _) => Shape::Unknown(format!("the type `{name}` with parameters")),
                }
            }
            Item::Struct(item) => self.structure(
                at,
                placed.file,
                &item.attrs,
                &item.fields,
                &item.ident,
                false,
            ),
            Item::Union(item) => {
                let fields = Fields::Named(item.fields.clone());
                self.structure(at, placed.file, &item.attrs, &fields, &item.ident, true)
            }
            Item::Enum(item) => self.enumeration(at, placed.file, item),
            _ => Shape::Unknown("a name that is no type".to_owned()),
        }
    }

    fn structure(
        &mut self,
        at: At,
        file: usize,
        attributes: &[syn::Attribute],
        fields: &Fields,
        ident: &syn::Ident,
        union: bool,
    ) -> Shape {
        let key = format!("{}/{}", at.0, at.1);
        let repr = Repr::of(&self.conditions.attributes(attributes));
        let named: Vec<&syn::Field> = fields
            .iter()
            .filter(|field| self.conditions.hold(&field.attrs) != Some(false))
            .collect();
        if repr.transparent {
            let inner = named.iter().map(|field| self.shape(at.0, &field.ty, 1));
            let inner: Vec<Shape> = inner.collect();
            let is_nothing = |shape: &&Shape| matches!(shape, Shape::Array { count: 0, .. });
            let only = inner.iter().find(|shape| !is_nothing(shape));
            return only.cloned().unwrap_or(Shape::Opaque);
        }
        if self.types.records.contains_key(&key) || self.busy.contains(&key) {
            return Shape::Record(key);
        }
        self.busy.push(key.clone());
        let members = named.iter().enumerate().map(|(i, field)| {
            let name = field.ident.as_ref().map_or(i.to_string(), |ident| {
                ident.to_string().trim_start_matches("r#").to_owned()
            });
            let is_public = matches!(field.vis, Visibility::Public(_));
            (name, self.shape(at.0, &field.ty, 1), is_public)
        });
        let members: Vec<(String, Shape, bool)> = members.collect();
        self.busy.retain(|busy| *busy != key);
        // `struct z_stream { _private: [u8; 0] }`, `struct Codec(c_void)`
        let is_hidden = |shape: &Shape| {
            matches!(
                shape,
                Shape::Array { count: 0, .. } | Shape::Opaque | Shape::Void
            )
        };
        if members.iter().all(|(_, shape, _)| is_hidden(shape)) {
            return Shape::Opaque;
        }
        let unsure = named
            .iter()
            .any(|field| self.conditions.hold(&field.attrs).is_none());
        let record = match unsure {
            true => Err("a member depends on a condition that is not known".to_owned()),
            false => {
                let mut record = Record {
                    name: ident.to_string(),
                    place: self.line(file, ident.span()),
                    size: 0,
                    align: 1,
                    fields: Vec::new(),
                    union,
                    open: members.iter().all(|(_, _, public)| *public),
                    ordered: repr.c,
                };
                self.lay_out(&mut record, members, &repr).map(|()| record)
            }
        };
        self.types.records.insert(key.clone(), record);
        Shape::Record(key)
    }

    /// Offsets as `repr(C)` gives them.
    fn lay_out(
        &self,
        record: &mut Record,
        members: Vec<(String, Shape, bool)>,
        repr: &Repr,
    ) -> Result<(), String> {
        let (mut at, mut align) = (0u64, 1u64);
        for (name, shape, _) in members {
            let told = |why: String| format!("member `{name}`: {why}");
            let size = self.types.size(&shape).map_err(told)?;
            let own = self
                .types
                .align(&shape)?
                .min(repr.packed.unwrap_or(u64::MAX));
            align = align.max(own);
            let offset = match record.union {
                true => 0,
                false => at.next_multiple_of(own),
            };
            at = match record.union {
                true => at.max(size),
                false => offset + size,
            };
            let blob = name.starts_with("_bitfield").then_some(size);
            record.fields.push(Field {
                name,
                offset,
                shape,
                blob,
            });
        }
        record.align = align.max(repr.align.unwrap_or(1));
        record.size = at.next_multiple_of(record.align);
        Ok(())
    }

    fn enumeration(&mut self, at: At, file: usize, item: &syn::ItemEnum) -> Shape {
        if item.variants.is_empty() {
            return Shape::Opaque;
        }
        let is_plain = item
            .variants
            .iter()
            .all(|variant| variant.fields.is_empty());
        let name = item.ident.to_string();
        // The standard library's own pattern for `c_void`.
        if !is_plain {
            return Shape::Unknown(format!("`{name}`, whose variants hold values"));
        }
        let repr = Repr::of(&self.conditions.attributes(&item.attrs));
        let key = format!("{}/{}", at.0, at.1);
        let mut next = 0i128;
        let mut constants = Vec::new();
        for variant in &item.variants {
            if self.conditions.hold(&variant.attrs) != Some(true) {
                continue;
            }
            if let Some((_, value)) = &variant.discriminant {
                match number(value).or_else(|| self.constant(at.0, value)) {
                    Some(value) => next = value,
                    None => {
                        constants.clear();
                        break;
                    }
                }
            }
            constants.push((variant.ident.to_string(), next));
            next += 1;
        }
        let size = match (repr.int, repr.c) {
            (Some(size), _) => size,
            (None, true) => 4,
            (None, false) => match constants.iter().all(|(_, v)| (-128..256).contains(v)) {
                true => 1,
                false => return Shape::Unknown(format!("`{name}`, whose size is rustc's choice")),
            },
        };
        let place = self.line(file, item.ident.span());
        self.types.enums.insert(
            key.clone(),
            Enumeration {
                name,
                place,
                constants,
            },
        );
        Shape::Enum { size, key }
    }

    /// The value of a constant that an expression names.
    fn constant(&self, module: usize, expression: &Expr) -> Option<i128> {
        let Expr::Path(path) = strip(expression) else {
            return None;
        };
        let parts: Vec<String> = path
            .path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        let Meaning::Item(at) = self.names.meaning(module, &parts)? else {
            return None;
        };
        match &self.tree.modules[at.0].items[at.1].item {
            Item::Const(item) => number(&item.expr),
            _ => None,
        }
    }
}

/// Whether functions of this ABI are called as C calls them.
fn is_c(abi: &str) -> bool {
    matches!(
        abi,
        "C" | "C-unwind" | "system" | "system-unwind" | "cdecl" | "sysv64"
    )
}

/// How a type is laid out.
#[derive(Default)]
struct Repr {
    c: bool,
    transparent: bool,
    packed: Option<u64>,
    align: Option<u64>,
    int: Option<u64>,
}

impl Repr {
    fn of(attributes: &[Meta]) -> Repr {
        let mut repr = Repr::default();
        for meta in attributes {
            let Meta::List(list) = meta else { continue };
            if !list.path.is_ident("repr") {
                continue;
            }
            let text = list.tokens.to_string().replace(' ', "");
            for part in text.split(',') {
                let inside =
                    |part: &str| part.split('(').nth(1)?.trim_end_matches(')').parse().ok();
                match part {
                    "C" => repr.c = true,
                    "transparent" => repr.transparent = true,
                    "packed" => repr.packed = Some(1),
                    _ if part.starts_with("packed(") => repr.packed = inside(part),
                    _ if part.starts_with("align(") => repr.align = inside(part),
                    _ => repr.int = repr.int.or(int_size(part)),
                }
            }
        }
        repr
    }
}

fn int_size(name: &str) -> Option<u64> {
    match outside(name)? {
        Shape::Int { size, .. } => Some(size),
        _ => None,
    }
}

fn strip(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(inner) => strip(&inner.expr),
        Expr::Group(inner) => strip(&inner.expr),
        Expr::Cast(cast) => strip(&cast.expr),
        other => other,
    }
}

/// A number that is plain to see: a literal, its negative, a shift of one.
pub(super) fn number(expression: &Expr) -> Option<i128> {
    match strip(expression) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(value) => value.base10_parse().ok(),
            Lit::Byte(value) => Some(i128::from(value.value())),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => number(&unary.expr).map(|n| -n),
        Expr::Binary(binary) => {
            let (a, b) = (number(&binary.left)?, number(&binary.right)?);
            match binary.op {
                syn::BinOp::Shl(_) => a.checked_shl(u32::try_from(b).ok()?),
                syn::BinOp::Add(_) => a.checked_add(b),
                syn::BinOp::Sub(_) => a.checked_sub(b),
                syn::BinOp::Mul(_) => a.checked_mul(b),
                syn::BinOp::BitOr(_) => Some(a | b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What a crate's own structures and enumerations are called, by their keys: for messages.
pub(super) fn name_of(types: &Types, shape: &Shape) -> Option<String> {
    match shape {
        Shape::Record(key) => types.record(key).ok().map(|record| record.name.clone()),
        Shape::Enum { key, .. } => types.enums.get(key).map(|e: &Enumeration| e.name.clone()),
        _ => None,
    }
}

/// Functions by their symbols; a second declaration of the same one stays beside the first.
pub(super) fn by_symbol(functions: &[Function]) -> HashMap<&str, Vec<&Function>> {
    let mut all: HashMap<&str, Vec<&Function>> = HashMap::new();
    for function in functions {
        all.entry(&function.name).or_default().push(function);
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used, dead_code, reason = "tests")]
mod tests {
    use super::super::files;
    use super::*;

    /// Types, and their own text.
    macro_rules! both {
        ($($item:item)*) => {
            $($item)*
            const SOURCE: &str = stringify!($($item)*);
        };
    }

    both! {
        #[repr(C)] pub struct Plain { pub a: u8, pub b: u64, pub c: u16 }
        #[repr(C, packed(2))] pub struct Packed { pub a: u8, pub b: u64, pub c: u32 }
        #[repr(C, align(32))] pub struct Aligned { pub a: u8, pub b: [u16; 3] }
        #[repr(C)] pub union Either { pub a: [u8; 5], pub b: u32 }
        #[repr(C)] pub struct Nested {
            pub a: Plain, pub b: Either, pub c: *mut Nested, pub d: Option<extern "C" fn(i32)>, pub e: f32, pub f: bool,
        }
        #[repr(C)] pub struct Rows { pub a: [[u32; 3]; 2], pub b: [Nested; 2], pub c: std::mem::ManuallyDrop<u8> }
    }

    #[test]
    fn layouts_are_those_of_rustc() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lib.rs");
        let block = "extern \"C\" { fn f(a: *mut Plain, b: *mut Packed, c: *mut Aligned, d: *mut Either, e: *mut Nested, f: *mut Rows); }";
        std::fs::write(&file, format!("{SOURCE}\n{block}")).unwrap();
        let conditions = Conditions::new(&[], None);
        let tree = files::Reader::new(folder.path(), Vec::new(), &conditions).read(&file);
        let all = declared(tree, &conditions);
        assert!(all.left_out.is_empty(), "{:?}", all.left_out);
        macro_rules! same {
            ($($name:ident { $($field:ident),* })*) => {$(
                let found = all.types.records.values().flatten().find(|record| record.name == stringify!($name));
                let record = found.unwrap_or_else(|| panic!("no {}", stringify!($name)));
                let expected = (size_of::<$name>() as u64, align_of::<$name>() as u64);
                assert_eq!((record.size, record.align), expected, "{}", record.name);
                let offsets: Vec<u64> = record.fields.iter().map(|field| field.offset).collect();
                assert_eq!(offsets, [$(std::mem::offset_of!($name, $field) as u64),*], "{}", record.name);
            )*};
        }
        same! {
            Plain { a, b, c }
            Packed { a, b, c }
            Aligned { a, b }
            Either { a, b }
            Nested { a, b, c, d, e, f }
            Rows { a, b, c }
        }
    }
}
