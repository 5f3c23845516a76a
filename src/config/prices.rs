//! What models cost.

use std::collections::BTreeMap;

use super::keys;
use crate::{
    logic::budget::Price,
    yaml::{Fields, Node},
};

/// What a token costs that is written to a service's cache, of what one costs that is read.
const CACHE_WRITE: f64 = 1.25;

/// The price list of a checked file, by model.
pub fn prices(file: &Fields) -> BTreeMap<String, Price> {
    let listed = file.get("prices").map(Node::entries).unwrap_or_default();
    let read = |node| price(&Fields::new(node, &keys::price::PRICE));
    listed.iter().map(|entry| (entry.key.clone(), read(&entry.node))).collect()
}

/// The price in `fields`.
pub fn price(fields: &Fields) -> Price {
    let money = |key| fields.number(key).unwrap_or_default();
    Price {
        input: money("input"),
        cached_input: fields.number("cached_input").unwrap_or_else(|| money("input")),
        cache_write: fields.number("cache_write").unwrap_or_else(|| money("input") * CACHE_WRITE),
        output: money("output"),
        characters: money("characters"),
        minute: money("minute"),
    }
}
