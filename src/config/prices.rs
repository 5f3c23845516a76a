//! What models cost.

use std::collections::BTreeMap;

use super::keys;
use crate::{
    logic::budget::Price,
    yaml::{Fields, Node, Position, Problems, quoted},
};

/// What a service is paid by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaidBy {
    /// Tokens read and written.
    Tokens,
    /// Minutes of sound heard.
    Minutes,
    /// Characters of what is spoken.
    Speech,
}

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

/// A price that would never count is no price.
pub fn check_price(price: Price, model: &str, by: PaidBy, at: Position, problems: &mut Problems) {
    let (counts, way_out) = match by {
        PaidBy::Tokens => (price.input > 0.0 || price.output > 0.0, "add input and output"),
        PaidBy::Minutes => (price.minute > 0.0, "add minute"),
        PaidBy::Speech => (price.characters > 0.0, "add characters"),
    };
    if !counts {
        let message = format!("the price of model {} does not fit its use", quoted(model));
        problems.add(at, message, format!("{way_out}, or `free: true` without a price"));
    }
}
