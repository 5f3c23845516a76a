//! Spans as OpenTelemetry's messages. Entry types: [`Ended`], [`Value`]; function: [`request`].

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value},
    resource::v1::Resource,
    trace::v1::{ResourceSpans, ScopeSpans, Span, Status, span::SpanKind, status::StatusCode},
};
use prost::Message;

use super::names;

/// Flag of a trace that is recorded (W3C Trace Context).
const SAMPLED: u32 = 1;
/// Longest value of an attribute, in bytes.
const LONGEST: usize = 16 << 10;

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Whole(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

/// A span that has ended.
pub struct Ended {
    pub id: u64,
    /// `None`: the root.
    pub parent: Option<u64>,
    pub name: String,
    pub is_client: bool,
    /// Unix time in ns.
    pub from: u64,
    pub to: u64,
    pub attributes: Vec<(&'static str, Value)>,
    /// Kind of error.
    pub error: Option<String>,
}

impl Ended {
    /// As a message of the trace `trace`.
    pub fn of(self, trace: u128) -> Span {
        let error = self.error.map(|kind| (names::ERROR_TYPE, Value::Text(kind)));
        let code = if error.is_some() { StatusCode::Error } else { StatusCode::Unset };
        let kind = if self.is_client { SpanKind::Client } else { SpanKind::Internal };
        let attributes = self.attributes.into_iter().chain(error);
        Span {
            trace_id: trace.to_be_bytes().to_vec(),
            span_id: self.id.to_be_bytes().to_vec(),
            parent_span_id: self.parent.map(|it| it.to_be_bytes().to_vec()).unwrap_or_default(),
            flags: SAMPLED,
            name: self.name,
            kind: i32::from(kind),
            start_time_unix_nano: self.from,
            end_time_unix_nano: self.to.max(self.from),
            attributes: attributes.map(|(key, value)| attribute(key, value)).collect(),
            status: Some(Status { code: i32::from(code), ..Status::default() }),
            ..Span::default()
        }
    }
}

fn attribute(key: &str, value: Value) -> KeyValue {
    let value = match value {
        Value::Text(mut text) => {
            text.truncate(text.floor_char_boundary(LONGEST));
            any_value::Value::StringValue(text)
        }
        Value::Whole(number) => any_value::Value::IntValue(number),
        Value::Number(number) => any_value::Value::DoubleValue(number),
        Value::Flag(flag) => any_value::Value::BoolValue(flag),
    };
    let value = Some(AnyValue { value: Some(value) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

/// The body of a request that exports `spans`.
pub fn request(spans: Vec<Span>) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let resource = Resource {
        attributes: vec![
            attribute(names::SERVICE_NAME, names::GLYPHOXA.into()),
            attribute(names::SERVICE_VERSION, version.into()),
        ],
        ..Resource::default()
    };
    let scope = InstrumentationScope {
        name: names::GLYPHOXA.to_owned(),
        version: version.to_owned(),
        ..InstrumentationScope::default()
    };
    let scope = ScopeSpans { scope: Some(scope), spans, ..ScopeSpans::default() };
    let all = ResourceSpans {
        resource: Some(resource),
        scope_spans: vec![scope],
        ..ResourceSpans::default()
    };
    ExportTraceServiceRequest { resource_spans: vec![all] }.encode_to_vec()
}
