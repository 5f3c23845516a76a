//! What a model costs.

use super::MONEY;
use crate::yaml::{Key, Shape};

/// What a model costs.
pub static PRICE: Shape = Shape {
    title: "A price",
    keys: &[
        Key::new("input", MONEY, "Per million tokens read."),
        Key::new(
            "cached_input",
            MONEY,
            "Per million tokens read from the service's cache; default: input.",
        ),
        Key::new(
            "cache_write",
            MONEY,
            "Per million tokens written to the service's cache, where that has a price of its own \
             (Anthropic); default: 1.25 times input.",
        ),
        Key::new("output", MONEY, "Per million tokens written."),
        Key::new("characters", MONEY, "Per million characters spoken."),
        Key::new("minute", MONEY, "Per minute heard."),
    ],
};
