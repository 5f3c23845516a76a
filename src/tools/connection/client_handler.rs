//! Client side of the protocol: answers a server's requests and takes its notices.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, ErrorCode, FormElicitationCapability, Implementation,
        ProgressNotificationParam,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{Notices, open_calls::OpenCalls, sampling, traffic::Traffic};
use crate::{
    domain::{one_line, redact},
    tools::{
        Form,
        schema::{Mismatch, Schema, SchemaError, apart},
    },
};

/// Longest wait for the game master's answer to a form.
const EXPIRY: Duration = Duration::from_secs(60);
/// Log lines of one server passed on per [`LOG_WINDOW`].
const LOG_LINES: u32 = 20;
const LOG_WINDOW: Duration = Duration::from_secs(10);
/// Longest log line passed on, in characters.
const LOG_LONGEST: usize = 400;

pub struct ClientHandler {
    pub server: Arc<str>,
    pub notices: Arc<Notices>,
    pub open: Arc<OpenCalls>,
    pub traffic: Arc<Traffic>,
    /// It may use the calling NPC's chat model.
    pub may_sample: bool,
    /// Logs its messages at level info.
    pub debug: bool,
    /// Limits its log lines.
    pub gate: Gate,
}

/// Lets a bounded number of lines per window through.
pub struct Gate {
    window: Mutex<(Instant, u32)>,
}

impl Gate {
    pub fn new() -> Self {
        Self { window: Mutex::new((Instant::now(), 0)) }
    }

    fn lets_through(&self) -> bool {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if window.0.elapsed() > LOG_WINDOW {
            *window = (Instant::now(), 0);
        }
        window.1 += 1;
        window.1 <= LOG_LINES
    }
}

impl rmcp::ClientHandler for ClientHandler {
    fn get_info(&self) -> ClientConfig {
        let form = FormElicitationCapability::new().with_schema_validation(true);
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        if self.may_sample {
            capabilities.sampling = Some(rmcp::model::SamplingCapability::default());
        }
        let us = Implementation::new("glyphoxa", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, us)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request
        else {
            return Ok(declined);
        };
        let call = match self.open.asking() {
            Ok(call) => call,
            Err(why) => {
                tracing::warn!(server = &*self.server, %why, "a server's question was declined");
                return Ok(declined);
            }
        };
        let Ok(schema) = serde_json::to_value(requested_schema) else { return Ok(declined) };
        let message = one_line(&message, 2_000);
        let form = Form { server: Arc::clone(&self.server), message, schema: schema.clone() };
        match tokio::time::timeout(EXPIRY, call.whose.effects.elicit(form)).await {
            Ok(Some(answer)) => Ok(match filled(answer, schema).await {
                Ok(answer) => ElicitResult::new(ElicitationAction::Accept).with_content(answer),
                Err(error) => {
                    tracing::warn!(server = &*self.server, %error, "an answer does not fit its form");
                    declined
                }
            }),
            Ok(None) => Ok(declined),
            Err(_) => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    #[expect(deprecated, reason = "servers of both revisions still ask")]
    async fn create_message(
        &self,
        asked: rmcp::model::CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::CreateMessageResult, ErrorData> {
        if self.may_sample {
            return sampling::answered(&self.server, &self.open, asked).await;
        }
        let way_out = "allow_sampling: true at this server, if it may spend the table's money";
        tracing::info!(server = &*self.server, way_out, "declined a server's request for a model");
        let why = "sampling is declined: this host lends no model to servers";
        Err(ErrorData::new(ErrorCode(-1), why, None))
    }

    #[expect(deprecated, reason = "servers of both revisions still log")]
    async fn on_logging_message(
        &self,
        message: rmcp::model::LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        if !self.gate.lets_through() {
            return;
        }
        let text = match &message.data {
            Value::String(text) => redact::text(&one_line(text, LOG_LONGEST)),
            other => one_line(&redact::json(other).to_string(), LOG_LONGEST),
        };
        let level = message.level;
        if self.debug {
            tracing::info!(server = &*self.server, ?level, text, "server log");
        } else {
            tracing::debug!(server = &*self.server, ?level, text, "server log");
        }
    }

    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.open.progress();
    }
}

/// Reason a person's answer cannot be sent.
#[derive(Debug, PartialEq, thiserror::Error)]
enum UnusableAnswer {
    #[error("the form's schema: {0}")]
    Form(#[from] SchemaError),
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error("cannot start a thread to read the form")]
    NoThread,
}

/// The answer completed by the form's defaults, checked against its schema.
async fn filled(mut answer: Map<String, Value>, schema: Value) -> Result<Value, UnusableAnswer> {
    let fields = schema.get("properties").and_then(Value::as_object);
    for (name, field) in fields.into_iter().flatten() {
        if let (None, Some(default)) = (answer.get(name), field.get("default")) {
            answer.insert(name.clone(), default.clone());
        }
    }
    let compiled = apart::at_leisure(move || Schema::new(&schema)).await;
    let compiled = compiled.ok_or(UnusableAnswer::NoThread)??;
    Ok(compiled.check(Value::Object(answer)).await?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn answers_get_defaults_and_must_fit() {
        let schema = json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "default": "Bartok"}, "age": {"type": "integer"}}});
        let answer = json!({"age": "7"});
        let filled = async |it: &Value| {
            filled(it.as_object().cloned().unwrap_or_default(), schema.clone()).await
        };
        assert_eq!(filled(&answer).await, Ok(json!({"age": 7, "name": "Bartok"})));
        assert!(filled(&json!({"age": "seven"})).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn talkative_server_is_cut_short_for_a_while() {
        let gate = Gate::new();
        assert_eq!((0..1_000).filter(|_| gate.lets_through()).count(), 20);
        tokio::time::advance(Duration::from_secs(11)).await;
        assert!(gate.lets_through());
    }
}
