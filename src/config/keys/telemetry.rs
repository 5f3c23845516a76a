//! Keys of `telemetry:`.

use crate::yaml::{Key, Kind, Shape};

pub static TELEMETRY: Shape = Shape {
    title: "Traces of turns",
    keys: &[
        Key::required(
            "otlp",
            Kind::Filled,
            "Address of an OpenTelemetry collector that takes OTLP over HTTP, such as \
             http://127.0.0.1:4318; traces go to /v1/traces below it. Take it from the environment \
             if it contains a key.",
        ),
        Key::new(
            "content",
            Kind::Flag,
            "Send words too: what players say, answers, prompts, arguments and results of tools, in \
             attributes named glyphoxa.pii.…; default false.",
        ),
    ],
};
