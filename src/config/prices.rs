//! Prices of models.

use std::collections::BTreeMap;

use super::keys;
use crate::{
    logic::budget::Price,
    yaml::{Fields, Node, Position, Problems, quoted},
};

/// Billing units of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaidBy {
    Tokens,
    /// Minutes of sound heard.
    Minutes,
    /// Characters, or minutes of sound, spoken.
    Speech,
    /// Tokens of text and of sound, heard and spoken.
    Talk,
    /// Pictures, or their tokens.
    Pictures,
    Requests,
}

/// Price of a token written to a service's cache, relative to an input token.
const CACHE_WRITE: f64 = 1.25;

/// Prices by model.
pub fn prices(file: &Fields) -> BTreeMap<String, Price> {
    let listed = file.get("prices").map(Node::entries).unwrap_or_default();
    let read = |node| price(&Fields::new(node, &keys::providers::PRICE));
    listed.iter().map(|entry| (entry.key.clone(), read(&entry.node))).collect()
}

pub fn price(fields: &Fields) -> Price {
    let money = |key| fields.number(key).unwrap_or_default();
    let cached = fields.number("cached_input");
    // Sound without its own price counts as text, so it is never free beside text that is not.
    let received = fields.number("audio_input").unwrap_or_else(|| money("input"));
    Price {
        input: money("input"),
        cached_input: cached.unwrap_or_else(|| money("input")),
        cache_write: fields.number("cache_write").unwrap_or_else(|| money("input") * CACHE_WRITE),
        output: money("output"),
        audio_input: received,
        audio_cached: fields
            .number("audio_cached")
            .unwrap_or_else(|| cached_sound(received, cached, money("input"))),
        audio_output: fields.number("audio_output").unwrap_or_else(|| money("output")),
        characters: money("characters"),
        minute: money("minute"),
        picture: money("picture"),
        request: money("request"),
    }
}

/// Default price of cached sound: the discount of cached text.
fn cached_sound(received: f64, cached: Option<f64>, text: f64) -> f64 {
    match cached {
        Some(cached) if text > 0.0 => (received * cached / text).max(cached).min(received),
        _ => received,
    }
}

/// Reports a price without any effect.
pub fn check_price(price: Price, model: &str, by: PaidBy, at: Position, problems: &mut Problems) {
    let (counts, way_out) = match by {
        PaidBy::Tokens => (price.input > 0.0 || price.output > 0.0, "add input and output"),
        PaidBy::Minutes => (price.minute > 0.0, "add minute"),
        PaidBy::Speech => {
            (price.characters > 0.0 || price.minute > 0.0, "add characters or minute")
        }
        PaidBy::Pictures => (price.picture > 0.0, "add picture: the most that one costs"),
        PaidBy::Requests => (price.request > 0.0, "add request"),
        PaidBy::Talk => (
            [price.input, price.output, price.audio_input, price.audio_output]
                .into_iter()
                .any(|money| money > 0.0),
            "add input, output, audio_input and audio_output",
        ),
    };
    if !counts {
        let message = format!("the price of model {} does not fit its use", quoted(model));
        problems.add(at, message, format!("{way_out}, or `free: true` without a price"));
    }
}
