//! A YAML file as a tree with places.

use serde_json::{Map, Number, Value as Json};

use super::{Position, Scalar};

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Start of the value; of an alias, the position of the alias.
    pub at: Position,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, number, boolean or null, as written.
    Scalar(Scalar),
    List(Vec<Node>),
    /// In the order of the file, keys unique.
    Map(Vec<Entry>),
    /// Its problem is already noted.
    Broken,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    pub at: Position,
    pub node: Node,
}

impl Node {
    /// Empty for anything but a mapping.
    pub fn entries(&self) -> &[Entry] {
        if let Value::Map(entries) = &self.value { entries } else { &[] }
    }

    /// The value at the end of this path of keys.
    pub fn inside(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| {
            node.entries().iter().find(|entry| entry.key == *key).map(|entry| &entry.node)
        })
    }

    /// Empty for anything but a list.
    pub fn items(&self) -> &[Self] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    pub const fn scalar(&self) -> Option<&Scalar> {
        if let Value::Scalar(scalar) = &self.value { Some(scalar) } else { None }
    }

    /// Even if it looks like a number.
    pub fn text(&self) -> Option<&str> {
        self.scalar().filter(|scalar| !scalar.is_null()).map(|scalar| scalar.text.as_str())
    }

    /// Written as `~`, `null` or left out after the colon.
    pub fn is_null(&self) -> bool {
        self.scalar().is_some_and(Scalar::is_null)
    }

    /// Plain scalars resolved by YAML 1.2; broken parts become null.
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
