//! Requests and calls of a turn, in its trace. Functions: [`called`], [`used`], [`recent`].

use crate::{
    domain::{Message, Said, redact},
    provider::Usage,
    tools::{CallRecord, NamedBy},
    traces::{Span, names},
};

/// Most of a prompt that is recorded, in bytes.
const RECENT: usize = 8 << 10;

/// Ends the span of a call. A result that comes later is not waited for.
pub fn called(span: Span, record: &CallRecord) {
    if !span.is_on() {
        return;
    }
    span.of(match record.named_by {
        NamedBy::Operator | NamedBy::Owner => &record.tool,
        // A name that a model made up is its words.
        NamedBy::Model => names::UNKNOWN_TOOL,
    });
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

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::UNIX_EPOCH};

    use tokio::time::Instant;

    use super::*;
    use crate::{
        domain::{CallId, ToolCall},
        tools::{CallError, CallErrorKind},
        traces::{Operation, Root, Traces},
    };

    #[tokio::test]
    async fn names_of_made_up_tools_stay_here() {
        let (traces, mut queue) = Traces::open(false, || UNIX_EPOCH);
        let trace = traces.begin("evening");
        let name = || "anna-is-ill".to_owned();
        let span = trace.begin(Operation::ExecuteTool, name);
        let (id, arguments) = (CallId("1".to_owned()), "{}".to_owned());
        let call = ToolCall { id, name: name(), arguments, extra: Default::default() };
        let error = CallError::new(CallErrorKind::NotFound, "unknown tool 'anna-is-ill'");
        called(span, &CallRecord::refused(Arc::from(name()), &call, error));
        let now = Instant::now();
        trace.finish(Root {
            agent: "Bartok".to_owned(),
            began: now,
            ended: now,
            stages: Vec::new(),
            attributes: Vec::new(),
            error: None,
        });
        let body = queue.next().await.unwrap();
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains("execute_tool unknown") && !text.contains("anna"), "{text}");
    }
}
