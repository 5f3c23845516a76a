//! Requests and calls of a turn, in its trace. Functions: [`called`], [`used`], [`recent`].

use crate::{
    domain::{Message, Said, redact},
    provider::Usage,
    tools::CallRecord,
    traces::{Span, names},
};

/// Most of a prompt that is recorded, in bytes.
const RECENT: usize = 8 << 10;

/// Ends the span of a call. A result that comes later is not waited for.
pub fn called(span: Span, record: &CallRecord) {
    if !span.is_on() {
        return;
    }
    span.of(&record.tool);
    span.set(names::TOOL_CALL_ID, record.id.0.as_str());
    span.set(names::CACHED, record.cached);
    span.set(names::PENDING, record.pending);
    span.set(names::ATTEMPTS, u64::from(record.attempts));
    if let Some(tier) = record.tier {
        span.set(names::TIER, tier.name());
    }
    if let Err(error) = &record.result {
        span.failed(error.kind.name());
    }
    span.content(names::ARGUMENTS, || record.arguments.to_string());
    span.content(names::RESULT, || redact::without_credentials(&record.for_model));
    span.end();
}

/// Records what the service counted.
pub fn used(span: &Span, usage: Usage) {
    span.set(names::INPUT_TOKENS, usage.input_tokens);
    span.set(names::OUTPUT_TOKENS, usage.output_tokens);
}

/// The newest messages of a prompt, without the instructions, which hold secrets.
pub fn recent(messages: &[Message]) -> String {
    let text = |message: &Message| match message {
        Message::System(_) => None,
        Message::User(Said { text, .. }) => Some(format!("user: {text}")),
        Message::Tool { content, .. } => Some(format!("tool: {content}")),
        Message::Summary { text, .. } => Some(format!("summary: {text}")),
        Message::Assistant { text, .. } => Some(format!("assistant: {text}")),
    };
    let all = messages.iter().filter_map(text).collect::<Vec<_>>().join("\n");
    let from = all.ceil_char_boundary(all.len().saturating_sub(RECENT));
    redact::without_credentials(all.get(from..).unwrap_or_default())
}
