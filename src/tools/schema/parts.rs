//! The parts of a schema, and targets of its references. Keywords of all drafts apply at once, so
//! that no draft hides parts.

use std::{borrow::Cow, collections::HashMap};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::error::SchemaError;

pub enum Part<'a> {
    /// Applies to the same value.
    Same(&'a Value),
    /// Applies to members or items of the value.
    Below(&'a Value),
    /// Applies where referenced.
    Defined(&'a Value),
    /// Reference to a part for the same value.
    Reference(&'a str),
}

/// The parts of `schema`.
pub fn of<'a>(schema: &'a Map<String, Value>) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    for (keyword, value) in schema {
        let make: fn(&'a Value) -> Part<'a> = match keyword.as_str() {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
            | "dependencies" | "extends" => Part::Same as fn(&'a Value) -> Part<'a>,
            "properties"
            | "patternProperties"
            | "additionalProperties"
            | "propertyNames"
            | "unevaluatedProperties"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "unevaluatedItems"
            | "contentSchema" => Part::Below,
            "$defs" | "definitions" => Part::Defined,
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                parts.extend(value.as_str().map(Part::Reference));
                continue;
            }
            _ => continue,
        };
        let is_map = matches!(
            keyword.as_str(),
            "properties"
                | "patternProperties"
                | "dependentSchemas"
                | "dependencies"
                | "$defs"
                | "definitions"
        );
        match value {
            Value::Object(members) if is_map => parts.extend(members.values().map(make)),
            Value::Array(items) => parts.extend(items.iter().map(make)),
            other => parts.push(make(other)),
        }
    }
    parts
}

/// A schema and its reference targets.
pub struct Document<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    /// Draft 4 or older: addresses are called `id`.
    is_old: bool,
}

impl<'a> Document<'a> {
    /// Anchors are added as they are met.
    pub fn new(root: &'a Value) -> Self {
        let draft = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let is_old = ["draft-03", "draft-04"].iter().any(|old| draft.contains(old));
        Self { root, anchors: HashMap::new(), is_old }
    }

    /// Notes the names of `schema` in the document. Fails if it is a document of its own, or a name
    /// is taken.
    pub fn note(&mut self, schema: &'a Value) -> Result<(), SchemaError> {
        if self.has_own_address(schema) && !std::ptr::eq(schema, self.root) {
            return Err(SchemaError::OwnAddress);
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            let Some(name) = schema.get(keyword).and_then(Value::as_str) else { continue };
            let other = self.anchors.insert(name, schema);
            if other.is_some_and(|other| !std::ptr::eq(other, schema)) {
                return Err(SchemaError::SameAnchor(name.chars().take(60).collect()));
            }
        }
        Ok(())
    }

    /// The target of `reference`. Fails if it is missing or in another document.
    pub fn resolve(&self, reference: &str) -> Result<&'a Value, SchemaError> {
        let shown = || reference.chars().take(60).collect();
        let Some(fragment) = reference.strip_prefix('#').or(reference.is_empty().then_some(""))
        else {
            return Err(SchemaError::Elsewhere(shown()));
        };
        let fragment = percent_decode_str(fragment).decode_utf8().unwrap_or(Cow::Borrowed(""));
        let nowhere = || SchemaError::Nowhere(shown());
        if fragment.is_empty() {
            return Ok(self.root);
        }
        let Some(pointer) = fragment.strip_prefix('/') else {
            return self.anchors.get(&*fragment).copied().ok_or_else(nowhere);
        };
        let mut place = self.root;
        for step in pointer.split('/') {
            let step = step.replace("~1", "/").replace("~0", "~");
            place = match place {
                Value::Array(items) => step.parse::<usize>().ok().and_then(|at| items.get(at)),
                other => other.get(&step),
            }
            .ok_or_else(nowhere)?;
            // References below would be relative to that address.
            if self.has_own_address(place) {
                return Err(SchemaError::OwnAddress);
            }
        }
        Ok(place)
    }

    fn has_own_address(&self, part: &Value) -> bool {
        let is_text = |key: &str| part.get(key).is_some_and(Value::is_string);
        is_text("$id") || (self.is_old && is_text("id"))
    }
}
