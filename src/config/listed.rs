//! Services under `providers`, of which one may stand for a list.
//!
//! Entry functions: [`entries`], [`service_of`], [`name_of`], [`refuse_empty`].

use super::reading::Notes;
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

/// Name of the service in `fields`.
pub fn service_of<'a>(fields: &Fields<'a>) -> Option<&'a str> {
    let service = fields.shape().key("service").and_then(|_| fields.text("service"));
    service.or_else(|| fields.text("name"))
}

/// Name of an entry with a model, whose service is `service` by default.
pub fn name_of(fields: &Fields, service: &str) -> String {
    let named = fields.text("as").or_else(|| fields.text("model"));
    let service = service_of(fields).unwrap_or(service);
    named.unwrap_or(service).trim().to_owned()
}

/// Reports an empty list `key` of `providers`.
pub fn refuse_empty(all: &Fields, key: &str, way_out: &str, notes: &mut Notes) {
    if all.get(key).is_some_and(|node| matches!(&node.value, Value::List(it) if it.is_empty())) {
        let message = format!("'providers.{key}' is an empty list");
        notes.problems.add(all.place(key), message, way_out);
    }
}
