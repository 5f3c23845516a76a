//! Typed reading of a checked mapping.

use super::{Node, Position, Scalar, Shape, Value, shape::Key, tree::Entry};

/// A checked mapping; missing, empty or broken values read as `None`.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    node: &'a Node,
    shape: &'static Shape,
}

impl<'a> Fields<'a> {
    /// `node` must have been checked against `shape`.
    pub const fn new(node: &'a Node, shape: &'static Shape) -> Self {
        Self { node, shape }
    }

    pub const fn shape(&self) -> &'static Shape {
        self.shape
    }

    pub const fn node(&self) -> &'a Node {
        self.node
    }

    /// Start of the mapping.
    pub const fn at(&self) -> Position {
        self.node.at
    }

    /// Start of the value of `key`; without one, of the mapping.
    pub fn place(&self, key: &str) -> Position {
        self.entry(key).map_or(self.node.at, |entry| entry.node.at)
    }

    pub fn get(&self, key: &str) -> Option<&'a Node> {
        let node = &self.entry(key)?.node;
        (!node.is_null() && !matches!(node.value, Value::Broken)).then_some(node)
    }

    /// True if a problem with the value of `key` is already noted.
    pub fn is_broken(&self, key: &str) -> bool {
        self.entry(key).is_some_and(|entry| matches!(entry.node.value, Value::Broken))
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.text()
    }

    /// The text of `key` for messages, quoted, without variables' values.
    pub fn shown(&self, key: &str) -> String {
        self.get(key).and_then(Node::scalar).map(Scalar::shown).unwrap_or_default()
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.scalar()?.flag()
    }

    /// The integer of `key`, if `N` can hold it; choose the bounds of its kind accordingly.
    pub fn whole<N: TryFrom<i64>>(&self, key: &str) -> Option<N> {
        N::try_from(self.get(key)?.scalar()?.whole()?).ok()
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.scalar()?.number()
    }

    /// The items of `key`; a single value that may replace a list counts as one item.
    pub fn items(&self, key: &str) -> &'a [Node] {
        match self.get(key) {
            Some(Node { value: Value::List(items), .. }) => items,
            Some(node) => std::slice::from_ref(node),
            None => &[],
        }
    }

    pub fn texts(&self, key: &str) -> Vec<String> {
        self.items(key).iter().filter_map(Node::text).map(str::to_owned).collect()
    }

    pub fn map(&self, key: &str, shape: &'static Shape) -> Option<Self> {
        self.get(key)
            .filter(|node| matches!(node.value, Value::Map(_)))
            .map(|node| Self::new(node, shape))
    }

    fn entry(&self, key: &str) -> Option<&'a Entry> {
        debug_assert!(self.shape.key(key).is_some_and(|Key { name, .. }| *name == key), "{key}");
        self.node.entries().iter().find(|entry| entry.key == key)
    }
}
