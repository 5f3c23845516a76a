//! The request of a live tool.

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value as Json;

use crate::{
    config::{
        keys,
        reading::{Notes, Reading},
    },
    tools::manifest::{Address, Header, Http, Mapping, Verb},
    yaml::{Fields, Node, Position, Problems, Scalar, quoted},
};

/// Default size limit of an answer.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// Settings of the spec around a request.
pub struct Live<'a> {
    /// Default time limit of a call.
    pub timeout: Option<Duration>,
    pub input: &'a Json,
}

/// `None`: too much of the request is invalid.
pub fn http(
    fields: &Fields,
    Live { timeout, input }: Live,
    reading: &Reading,
    notes: &mut Notes,
) -> Option<Http> {
    let problems = &mut notes.problems;
    let request = fields.map("request", &keys::manifest::REQUEST);
    let response = fields.map("response", &keys::manifest::RESPONSE);
    let url = fields.text("url")?;
    let address = Address::parse(url);
    let address = address.map_err(|way_out| {
        // The error must not show values of variables.
        problems.add(fields.place("url"), format!("'url' is {}", fields.shown("url")), way_out);
    });
    let verb = Verb::named(fields.text("method").unwrap_or("POST"));
    let body = mapping(one(fields, request, "body_mapping", problems), problems);
    let answer = match (fields.get("response_mapping"), response) {
        (Some(node), Some(nested)) if nested.get("body_mapping").is_some() => {
            twice(node.at, "response_mapping", problems);
            None
        }
        (own, nested) => {
            mapping(own.or_else(|| nested.and_then(|nested| nested.get("body_mapping"))), problems)
        }
    };
    let static_body = request.and_then(|it| it.get("static_body")).map(Node::to_json);
    if !verb.has_body() && (body.is_some() || static_body.is_some()) {
        let message = "a request without a body cannot have a body mapping or static_body";
        problems.add(fields.at(), message, "method: POST, or query_params and static_query");
    }
    let query = one(fields, request, "query_params", problems);
    let http = Http {
        headers: headers(fields, request, reading, problems),
        address: address.ok()?,
        verb,
        timeout: fields.whole("timeout_ms").map(Duration::from_millis).or(timeout),
        query: query.map(texts).unwrap_or_default(),
        exclude: request.map(|it| it.texts("exclude")).unwrap_or_default(),
        static_query: request.map(|it| named(it.get("static_query"))).unwrap_or_default(),
        static_body: static_body.and_then(|it| it.as_object().cloned()).unwrap_or_default(),
        body,
        answer,
        redact: fields.texts("redact"),
        max_bytes: fields.whole("max_response_bytes").unwrap_or(MAX_RESPONSE_BYTES),
    };
    check_names(&http, input, fields, problems);
    Some(http)
}

/// The value of `key`, here or under `request`.
fn one<'a>(
    fields: &Fields<'a>,
    request: Option<Fields<'a>>,
    key: &str,
    problems: &mut Problems,
) -> Option<&'a Node> {
    let nested = request.and_then(|request| request.get(key));
    match (fields.get(key), nested) {
        (Some(own), Some(_)) => {
            twice(own.at, key, problems);
            None
        }
        (own, nested) => own.or(nested),
    }
}

/// Reports a key that is set in two places.
fn twice(at: Position, key: &str, problems: &mut Problems) {
    problems.add(at, format!("'{key}' is given twice"), "keep one of them");
}

fn mapping(node: Option<&Node>, problems: &mut Problems) -> Option<Mapping> {
    let node = node?;
    let text = node.text()?;
    Mapping::parse(text)
        .map_err(|what| {
            let shown = node.scalar().map(Scalar::shown).unwrap_or_default();
            let message = format!("{shown} is not a JMESPath expression: {what}");
            problems.add(node.at, message, "see jmespath.org");
        })
        .ok()
}

fn texts(node: &Node) -> Vec<String> {
    node.items().iter().filter_map(Node::text).map(str::to_owned).collect()
}

fn named(node: Option<&Node>) -> Vec<(String, String)> {
    let entries = node.map(Node::entries).unwrap_or_default().iter();
    entries.filter_map(|it| Some((it.key.clone(), it.node.text()?.to_owned()))).collect()
}

/// All headers, including those of the environment.
fn headers(
    fields: &Fields,
    request: Option<Fields>,
    reading: &Reading,
    problems: &mut Problems,
) -> Vec<Header> {
    let mut headers = Vec::new();
    let written = [
        (fields.get("headers"), true),
        (request.and_then(|it| it.get("header_params")), true),
        (request.and_then(|it| it.get("static_headers")), false),
    ];
    for (node, is_template) in written {
        for entry in node.map(Node::entries).unwrap_or_default() {
            let Some(text) = entry.node.text() else { continue };
            let header = if is_template {
                Header::template(&entry.key, text)
            } else {
                Header::fixed(&entry.key, text)
            };
            match header {
                Ok(header) => headers.push(header),
                Err(what) => {
                    let message = format!("header {}: {what}", quoted(&entry.key));
                    problems.add(entry.at, message, "write Name: value, arguments as {name}");
                }
            }
        }
    }
    for node in fields.items("headers_from_env") {
        headers.extend(from_env(node, reading, problems));
    }
    headers
}

/// Names of variables in the `headers_from_env` of `node`.
pub fn from_environment(node: &Node) -> BTreeSet<String> {
    let items = if node.scalar().is_some() { std::slice::from_ref(node) } else { node.items() };
    let name = |text: &str| text.split_once('=').map_or(text, |(_, name)| name).trim().to_owned();
    items.iter().filter_map(Node::text).map(name).collect()
}

/// The header `Name=VARIABLE` in `node`, or `VARIABLE` alone, which then names the header.
fn from_env(node: &Node, reading: &Reading, problems: &mut Problems) -> Option<Header> {
    let text = node.text()?;
    let (name, variable) = text.split_once('=').unwrap_or((text, text));
    let (name, variable) = (name.trim(), variable.trim());
    let named_after = name.replace('_', "-");
    let name = if text.contains('=') { name } else { &named_after };
    let Some(value) = reading.variable(variable, "headers_from_env") else {
        let message =
            format!("'headers_from_env' needs the variable {}, which is not set", quoted(variable));
        problems.add(node.at, message, "set it");
        return None;
    };
    Header::fixed(name, &value)
        .map_err(|what| {
            let message = format!("header {}: {what}", quoted(name));
            problems.add(node.at, message, "write Header=VARIABLE, or VARIABLE alone");
        })
        .ok()
}

/// Reports undeclared arguments.
fn check_names(http: &Http, input: &Json, fields: &Fields, problems: &mut Problems) {
    let Some(properties) = input.get("properties").and_then(Json::as_object) else { return };
    for (key, name) in http.named().filter(|(_, name)| !properties.contains_key(*name)) {
        let message = format!("{} is not an argument of the tool", quoted(name));
        let at = match key {
            "exclude" => fields.place("request"),
            "query_params" | "headers" if fields.get(key).is_none() => fields.place("request"),
            key => fields.place(key),
        };
        problems.add(at, message, "declare it under properties of input_schema");
    }
}
