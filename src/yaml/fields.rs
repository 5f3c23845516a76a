//! Typed reading of a mapping that was checked.

use super::{Node, Position, Scalar, Shape, Value, shape::Key, tree::Entry};

/// A checked mapping; what is missing, empty or broken reads as `None`.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// The mapping whose fields these are.
    node: &'a Node,
    /// Its table of keys.
    shape: &'static Shape,
}

impl<'a> Fields<'a> {
    /// Reads `node`, which was checked against `shape`.
    pub const fn new(node: &'a Node, shape: &'static Shape) -> Self {
        Self { node, shape }
    }

    /// The table of keys it was checked against.
    pub const fn shape(&self) -> &'static Shape {
        self.shape
    }

    /// The mapping itself.
    pub const fn node(&self) -> &'a Node {
        self.node
    }

    /// Place where the mapping begins.
    pub const fn at(&self) -> Position {
        self.node.at
    }

    /// Place where the value of `key` begins; without one, that of the mapping.
    pub fn place(&self, key: &str) -> Position {
        self.entry(key).map_or(self.node.at, |entry| entry.node.at)
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&'a Node> {
        let node = &self.entry(key)?.node;
        (!node.is_null() && !matches!(node.value, Value::Broken)).then_some(node)
    }

    /// True if a problem with the value of `key` has already been noted.
    pub fn is_broken(&self, key: &str) -> bool {
        self.entry(key).is_some_and(|entry| matches!(entry.node.value, Value::Broken))
    }

    /// The text of `key`.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.text()
    }

    /// The text of `key` for messages, quoted, without what variables hold.
    pub fn shown(&self, key: &str) -> String {
        self.get(key).and_then(Node::scalar).map(Scalar::shown).unwrap_or_default()
    }

    /// The boolean of `key`.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.scalar()?.flag()
    }

    /// The whole number of `key`, if `N` can hold it; choose the bounds of its kind so that it can.
    pub fn whole<N: TryFrom<i64>>(&self, key: &str) -> Option<N> {
        N::try_from(self.get(key)?.scalar()?.whole()?).ok()
    }

    /// The number of `key`.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.scalar()?.number()
    }

    /// The items of `key`: a list's, or the value itself where one may stand for a list.
    pub fn items(&self, key: &str) -> &'a [Node] {
        match self.get(key) {
            Some(Node { value: Value::List(items), .. }) => items,
            Some(node) => std::slice::from_ref(node),
            None => &[],
        }
    }

    /// The texts among the items of `key`.
    pub fn texts(&self, key: &str) -> Vec<String> {
        self.items(key).iter().filter_map(Node::text).map(str::to_owned).collect()
    }

    /// The mapping of `key`, described by `shape`.
    pub fn map(&self, key: &str, shape: &'static Shape) -> Option<Self> {
        self.get(key)
            .filter(|node| matches!(node.value, Value::Map(_)))
            .map(|node| Self::new(node, shape))
    }

    /// The entry of `key`.
    fn entry(&self, key: &str) -> Option<&'a Entry> {
        debug_assert!(self.shape.key(key).is_some_and(|Key { name, .. }| *name == key), "{key}");
        self.node.entries().iter().find(|entry| entry.key == key)
    }
}
