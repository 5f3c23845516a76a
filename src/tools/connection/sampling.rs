//! A server's sampling request, and the model's answer in protocol terms. Text only, and only
//! during a call of an NPC.
#![expect(deprecated, reason = "servers of both revisions still ask for samples")]

use std::{sync::Arc, time::Duration};

use rmcp::{
    ErrorData,
    model::{
        CreateMessageRequestParams, CreateMessageResult, ErrorCode, Role, SamplingMessage,
        SamplingMessageContentBlock,
    },
};
use tokio::time::timeout;

use super::open_calls::OpenCalls;
use crate::{
    domain::Message,
    tools::{SampleRequest, Sampled},
};

/// Longest wait for the model.
const PATIENCE: Duration = Duration::from_secs(30);
/// Largest request, in bytes of text.
const LARGEST: usize = 32 * 1024;

/// Asks the model of the calling NPC. Errors are worded for the server.
pub async fn answered(
    server: &Arc<str>,
    open: &OpenCalls,
    asked: CreateMessageRequestParams,
) -> Result<CreateMessageResult, ErrorData> {
    let declined = |why: &str| {
        tracing::warn!(server = &**server, why, "declined a server's request for a model");
        ErrorData::new(ErrorCode(-1), why.to_owned(), None)
    };
    let call = open.asking().map_err(|why| declined(&why.to_string()))?;
    let sampler = call.whose.sampler.clone();
    let sampler = sampler.ok_or_else(|| declined("there is no chat model to ask"))?;
    if !call.may_sample() {
        return Err(declined("this call has asked often enough"));
    }
    let request = request(server, asked).map_err(|why| ErrorData::invalid_params(why, None))?;
    let sample = timeout(PATIENCE, sampler.sample(request));
    match call.over.run_until_cancelled(sample).await {
        None => Err(declined("the call is over")),
        Some(Err(_)) => Err(declined("the chat model did not answer in time")),
        Some(Ok(Err(error))) => Err(ErrorData::new(ErrorCode(-1), error.to_string(), None)),
        Some(Ok(Ok(Sampled { text, model }))) => {
            Ok(CreateMessageResult::new(SamplingMessage::assistant_text(text), model))
        }
    }
}

/// The request in our terms.
fn request(
    server: &Arc<str>,
    asked: CreateMessageRequestParams,
) -> Result<SampleRequest, &'static str> {
    if asked.tools.is_some_and(|tools| !tools.is_empty()) {
        return Err("no tools can be called in a sample");
    }
    let mut messages: Vec<Message> = asked.system_prompt.map(Message::System).into_iter().collect();
    let mut size = messages
        .iter()
        .map(|it| if let Message::System(text) = it { text.len() } else { 0 })
        .sum::<usize>();
    for message in asked.messages {
        let mut texts = Vec::new();
        for block in message.content.into_vec() {
            match block {
                SamplingMessageContentBlock::Text(text) => texts.push(text.text),
                _ => return Err("only text can be sampled"),
            }
        }
        let text = texts.join("\n");
        size = size.saturating_add(text.len());
        messages.push(match message.role {
            Role::User => Message::User(text.into()),
            Role::Assistant => Message::spoken(text),
        });
    }
    if size > LARGEST {
        return Err("the messages are too long (32 KiB)");
    }
    let server = Arc::clone(server);
    Ok(SampleRequest { server, messages, max_tokens: asked.max_tokens })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Result<SampleRequest, &'static str> {
        let server = Arc::from("home");
        request(&server, serde_json::from_value(value).expect("parameters"))
    }

    #[test]
    fn text_is_passed_on_and_nothing_else() {
        let said = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
        let request = read(json!({"systemPrompt": "Short.", "maxTokens": 9, "messages": [
            said("What now?"),
            {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        ]}));
        let request = request.expect("text");
        let assistant = Message::spoken("a\nb".to_owned());
        let expected =
            [Message::System("Short.".to_owned()), Message::User("What now?".into()), assistant];
        assert_eq!((request.messages.as_slice(), request.max_tokens), (&expected[..], 9));
        let picture = json!({"role": "user",
            "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}});
        assert!(read(json!({"maxTokens": 9, "messages": [picture]})).is_err());
        let long = said(&"x".repeat(LARGEST + 1));
        assert!(read(json!({"maxTokens": 9, "messages": [long]})).is_err());
        let tools = json!([{"name": "t", "inputSchema": {"type": "object"}}]);
        assert!(read(json!({"maxTokens": 9, "messages": [], "tools": tools})).is_err());
    }
}
