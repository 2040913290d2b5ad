//! Reads the crate's declarations of the library's functions and types from its Rust code.

mod layout;

use std::collections::HashMap;

use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{
    Expr, Fields, ForeignItem, GenericArgument, Item, Lit, Meta, PathArguments, ReturnType, Type,
};

use super::attributes::{is_c, number, strip};
use super::conditions::Conditions;
use super::files::Tree;
use super::names::{At, Meaning, Names, outside};
use super::shape::{Enumeration, Function, Line, Shape, Signature, Types};

/// All declarations.
#[derive(Debug, Default)]
pub(super) struct Declared {
    pub functions: Vec<Function>,
    pub types: Types,
    /// Constants with a simple value.
    pub constants: Vec<(String, i128, Line)>,
    pub left_out: Vec<(Line, String)>,
}

/// The maximum depth to which types are followed.
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
    /// Structures whose layout is being computed, to detect recursion.
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

    /// The symbol of a function for the linker.
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
        // bindgen prefixes a name that must not be mangled with a `\u{1}`.
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

    /// Converts a type to a shape.
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
        // Pointers to slices, strings and trait objects consist of two words.
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

    /// The shape of a type that the crate defines.
    fn item(&mut self, at: At, inner: Option<(usize, &Type)>, depth: u32) -> Shape {
        let tree = self.tree;
        let placed = &tree.modules[at.0].items[at.1];
        match &placed.item {
            Item::Type(alias) if alias.generics.params.is_empty() => {
                self.shape(at.0, &alias.ty, depth + 1)
            }
            Item::Struct(item) if !item.generics.params.is_empty() => {
                // Types that bindgen generates for bit-fields and flexible array members.
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

    /// The value of a constant that an expression refers to.
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

/// The name of a structure or enumeration, for messages.
pub(super) fn name_of(types: &Types, shape: &Shape) -> Option<String> {
    match shape {
        Shape::Record(key) => types.record(key).ok().map(|record| record.name.clone()),
        Shape::Enum { key, .. } => types.enums.get(key).map(|e: &Enumeration| e.name.clone()),
        _ => None,
    }
}

/// Groups functions by symbol; a symbol may be declared several times.
pub(super) fn by_symbol(functions: &[Function]) -> HashMap<&str, Vec<&Function>> {
    let mut all: HashMap<&str, Vec<&Function>> = HashMap::new();
    for function in functions {
        all.entry(&function.name).or_default().push(function);
    }
    all
}

#[cfg(test)]
mod tests;
