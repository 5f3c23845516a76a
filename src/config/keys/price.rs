use super::MONEY;
use crate::yaml::{Key, Shape};

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
            "Per million tokens written to the service's cache, if that has its own price \
             (Anthropic); default: 1.25 times input.",
        ),
        Key::new("output", MONEY, "Per million tokens written."),
        Key::new(
            "audio_input",
            MONEY,
            "Per million audio tokens heard, at a speech-to-speech service; default: input.",
        ),
        Key::new(
            "audio_cached",
            MONEY,
            "Per million audio tokens read from the service's cache; default: audio_input reduced \
             in the same ratio as cached_input to input.",
        ),
        Key::new("audio_output", MONEY, "Per million audio tokens spoken; default: output."),
        Key::new("characters", MONEY, "Per million characters spoken."),
        Key::new("minute", MONEY, "Per minute heard."),
        Key::new(
            "picture",
            MONEY,
            "Per picture. With output set and a service that counts tokens, the tokens are booked; \
             picture is then only reserved beforehand.",
        ),
        Key::new("request", MONEY, "Per search request."),
    ],
};
