//! Computes the layout of the crate's structures, unions and enumerations.

use syn::{Fields, Visibility};

use super::Reader;
use crate::bindings::attributes::{Repr, number};
use crate::bindings::names::At;
use crate::bindings::shape::{Enumeration, Field, Record, Shape};

impl Reader<'_> {
    pub(super) fn structure(
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
        // An opaque type, such as `struct z_stream { _private: [u8; 0] }` or `struct
        // Codec(c_void)`.
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

    /// Computes sizes and offsets by the rules of `repr(C)`.
    pub(super) fn lay_out(
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

    pub(super) fn enumeration(&mut self, at: At, file: usize, item: &syn::ItemEnum) -> Shape {
        if item.variants.is_empty() {
            return Shape::Opaque;
        }
        let is_plain = item
            .variants
            .iter()
            .all(|variant| variant.fields.is_empty());
        let name = item.ident.to_string();
        // A variant with fields has no counterpart in a C enumeration.
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
}
