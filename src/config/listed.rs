//! Services under `providers`, of which one may stand for a list.
//!
//! Entry function: [`entries`].

use crate::yaml::{Fields, Shape, Value};

/// Services `key` of `providers`: one, or a list.
pub fn entries<'a>(
    all: &Fields<'a>,
    key: &str,
    shape: &'static Shape,
) -> impl Iterator<Item = Fields<'a>> + use<'a> {
    let nodes = all.items(key).iter().filter(|node| matches!(node.value, Value::Map(_)));
    nodes.map(move |node| Fields::new(node, shape))
}
