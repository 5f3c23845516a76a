//! The tree of a YAML document.

use serde_json::{Map, Number, Value as Json};

use super::{Position, Scalar};

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Place where the value begins; for an alias, where the alias stands.
    pub at: Position,
    /// Its content.
    pub value: Value,
}

/// Content of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, number, boolean or nothing, as written.
    Scalar(Scalar),
    /// A sequence of values, in order.
    List(Vec<Node>),
    /// A mapping in the order of the file, keys unique.
    Map(Vec<Entry>),
    /// Something that already has its problem.
    Broken,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key's text.
    pub key: String,
    /// Place where the key begins.
    pub at: Position,
    /// The value of the key.
    pub node: Node,
}

impl Node {
    /// The entries of a mapping; none for anything else.
    pub fn entries(&self) -> &[Entry] {
        if let Value::Map(entries) = &self.value { entries } else { &[] }
    }

    /// The value behind these keys, each in the mapping of the one before.
    pub fn inside(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| {
            node.entries().iter().find(|entry| entry.key == *key).map(|entry| &entry.node)
        })
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[Self] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    /// The scalar, unless it is something else.
    pub const fn scalar(&self) -> Option<&Scalar> {
        if let Value::Scalar(scalar) = &self.value { Some(scalar) } else { None }
    }

    /// A scalar's text, whatever it would mean as a number.
    pub fn text(&self) -> Option<&str> {
        self.scalar().filter(|scalar| !scalar.is_null()).map(|scalar| scalar.text.as_str())
    }

    /// Nothing: written as `~`, `null` or left out after the colon.
    pub fn is_null(&self) -> bool {
        self.scalar().is_some_and(Scalar::is_null)
    }

    /// The node as JSON, plain scalars resolved as YAML 1.2 does; broken parts are null.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Scalar(scalar) => scalar_json(scalar),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(entries) => {
                let pairs = entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json()));
                Json::Object(pairs.collect::<Map<_, _>>())
            }
            Value::Broken => Json::Null,
        }
    }
}

/// A scalar resolved.
fn scalar_json(scalar: &Scalar) -> Json {
    if scalar.is_null() {
        return Json::Null;
    }
    if let Some(flag) = scalar.flag() {
        return Json::Bool(flag);
    }
    if let Some(whole) = scalar.whole() {
        return Json::Number(whole.into());
    }
    let number = scalar.number().and_then(Number::from_f64);
    number.map_or_else(|| Json::String(scalar.text.clone()), Json::Number)
}
