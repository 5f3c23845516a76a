//! Keys of tool manifests.

use super::{
    TEXT_OR_TEXTS, TEXTS, WAIT,
    declared::{self, DURATION, TIER},
};
use crate::{
    tools::manifest::Verb,
    yaml::{Key, Kind, Shape},
};

const NAMED: Kind = Kind::Names(&Kind::Any);
const NAMED_TEXTS: Kind = Kind::Names(&Kind::Text);
pub static FILE: Shape = Shape {
    title: "A Glyphoxa tool",
    keys: &[
        Key::required(
            "apiVersion",
            Kind::Word(&["promptkit.altairalabs.ai/v1", "promptkit.altairalabs.ai/v1alpha1"]),
            "Version of this format.",
        ),
        Key::required("kind", Kind::Word(&["Tool"]), "Kind of the file's content."),
        Key::new("metadata", Kind::Shape(&METADATA), "Name and labels of the tool."),
        Key::required("spec", Kind::Shape(&SPEC), "Definition of the tool."),
        Key::new("$schema", Kind::Text, "Address of a schema, for editors."),
    ],
};

pub static METADATA: Shape = Shape {
    title: "Names of a tool",
    keys: &[
        Key::new("name", Kind::Filled, "Its name; NPC files list it as namespace.name."),
        Key::new("namespace", Kind::Filled, "First part of its identity; default manifest."),
        Key::new("labels", NAMED_TEXTS, "Notes of your own."),
        Key::new("annotations", NAMED_TEXTS, "More notes of your own."),
    ],
};

pub static SPEC: Shape = Shape {
    title: "Definition of a tool",
    keys: &[
        Key::new("name", Kind::Filled, "Its name if metadata has none."),
        Key::new("namespace", Kind::Filled, "Its namespace if metadata has none."),
        Key::required("description", Kind::Filled, "Description for the model."),
        Key::required("input_schema", NAMED, "JSON Schema of its arguments, an object."),
        Key::new("output_schema", NAMED, "JSON Schema of its result."),
        Key::new(
            "mode",
            Kind::Word(&["mock", "live"]),
            "mock: gives the answer written here; live: asks a server; default mock, or live with \
             http and no mock answer.",
        ),
        Key::new("timeout_ms", WAIT, "Longest wait for one answer; default: the turn's."),
        Key::new("mock_result", Kind::Any, "The answer of a mock tool."),
        Key::new("mock_result_file", Kind::Filled, "Its answer in a file beside this one."),
        Key::new(
            "mock_template",
            Kind::Filled,
            "Template of its answer, filled with the arguments: {{ city }}, or {{.city}}.",
        ),
        Key::new("mock_template_file", Kind::Filled, "Its template in a file beside this one."),
        Key::new("http", Kind::Shape(&HTTP), "The request of a live tool."),
        Key::new("labels", NAMED_TEXTS, "Notes of your own."),
        Key::new("category", TEXT_OR_TEXTS, "Its topic, or several; default: its namespace."),
        declared::ESTIMATED,
        Key::new(
            "max_duration_ms",
            DURATION,
            "Time after which a call is cancelled; default: timeout_ms.",
        ),
        declared::MEASURED,
        declared::MEASURED_P99,
        declared::IDEMPOTENT,
        declared::READ_ONLY,
        declared::DESTRUCTIVE,
        declared::OPEN_WORLD,
        declared::EFFECTS,
        declared::CACHEABLE,
        Key::new("floor", TIER, "Lowest tier that offers it; default fast."),
        declared::APPROVAL,
        declared::LATE,
        declared::URGENT,
        declared::RECORDS,
        declared::FILLERS,
        declared::PROBE,
    ],
};

pub static HTTP: Shape = Shape {
    title: "An HTTP request",
    keys: &[
        Key::required(
            "url",
            Kind::Filled,
            "Address; arguments in path and query as {city} or {{.city}}.",
        ),
        Key::new("method", Kind::Word(Verb::NAMES), "Default POST."),
        Key::new("timeout_ms", WAIT, "Longest wait for one answer; default: that of the spec."),
        Key::new("headers", NAMED_TEXTS, "Headers; arguments as {city} or {{.city}}."),
        Key::new(
            "headers_from_env",
            TEXTS,
            "Headers from the environment: Header=VARIABLE, or VARIABLE alone, which names the \
             header too (X_API_KEY is sent as X-API-KEY).",
        ),
        Key::new("query_params", TEXTS, "Arguments that go into the query."),
        Key::new("body_mapping", Kind::Filled, "JMESPath that turns the arguments into the body."),
        Key::new(
            "response_mapping",
            Kind::Filled,
            "JMESPath that turns the answer into the result.",
        ),
        Key::new("redact", TEXTS, "Members removed from answers, at any depth."),
        Key::new(
            "max_response_bytes",
            Kind::Whole { min: 1, max: 10_485_760 },
            "Largest answer; default 262144.",
        ),
        Key::new("request", Kind::Shape(&REQUEST), "Mapping of the arguments to the request."),
        Key::new("response", Kind::Shape(&RESPONSE), "Mapping of the answer to the result."),
    ],
};

pub static REQUEST: Shape = Shape {
    title: "Mapping of arguments to a request",
    keys: &[
        Key::new("query_params", TEXTS, "Arguments that go into the query."),
        Key::new("header_params", NAMED_TEXTS, "Headers filled with arguments, as {city}."),
        Key::new("body_mapping", Kind::Filled, "JMESPath that turns the arguments into the body."),
        Key::new("exclude", TEXTS, "Arguments that are not sent."),
        Key::new("static_query", NAMED_TEXTS, "Query parameters that are always the same."),
        Key::new("static_headers", NAMED_TEXTS, "Headers that are always the same."),
        Key::new("static_body", NAMED, "Members of the body that are always the same."),
    ],
};

pub static RESPONSE: Shape = Shape {
    title: "Mapping of an answer to a result",
    keys: &[Key::new(
        "body_mapping",
        Kind::Filled,
        "JMESPath that turns the answer into the result.",
    )],
};
