//! One look at a server from outside: what it speaks, what it offers, what its tools answer.
//!
//! Entry function: [`probe`]. Connects, lists with paging, calls every tool with arguments made from
//! its schema; answers forms with the defaults of their schema and declines to be a model.
//! **Never**: offers anything to an NPC, keeps a login.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::Url;
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{
        CallToolRequestParams, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, ProtocolVersion,
        CreateMessageRequestParams, CreateMessageResult, Tool,
    },
    service::{ClientInitializeError, RequestContext, RunningService, ServiceError},
    transport::{
        StreamableHttpClientTransport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::oauth::{Authorizer, Carried, Client, Headless, Shelf, Way, oauth_error};
use crate::tools::{calibrate::minimal, schema::Schema};

/// First revision without a handshake.
const STATELESS: &str = "2026-07-28";
/// How a user refuses to have a model asked (`sampling/createMessage`).
const DECLINED: ErrorCode = ErrorCode(-1);

/// What is looked at, and how.
pub struct Probe {
    /// Where the server is.
    pub target: Target,
    /// Revision to speak; `None`: the newest that both know.
    pub revision: Option<String>,
    /// What is called; `None`: every tool, with made-up arguments.
    pub calls: Option<Vec<Planned>>,
    /// Who we are if the server wants authorization.
    pub client: Client,
    /// Longest wait for the connection, for the list, and for each call.
    pub limit: Duration,
}

/// Where a server is.
pub enum Target {
    /// Streamable HTTP.
    Http(Url),
}

/// A call to be made.
pub struct Planned {
    /// Name of the tool on the wire.
    pub name: String,
    /// With what.
    pub arguments: Map<String, Value>,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct Found {
    /// Revision spoken.
    pub protocol: String,
    /// What the server calls itself.
    pub server: String,
    /// Its version.
    pub version: String,
    /// Milliseconds to connect, authorization included.
    pub connect_ms: f64,
    /// Every tool, in the server's order.
    pub tools: Vec<Offered>,
    /// Every call made, in order.
    pub calls: Vec<Called>,
}

/// A tool.
#[derive(Debug, Serialize)]
pub struct Offered {
    /// Its name.
    pub name: String,
    /// What it says it does.
    pub description: String,
}

/// A call that was made.
#[derive(Debug, Serialize)]
pub struct Called {
    /// Name of the tool.
    pub tool: String,
    /// With what it was called.
    pub arguments: Map<String, Value>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it said, shortened.
    pub text: String,
    /// Milliseconds to the answer.
    pub ms: f64,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// With a result.
    Answered,
    /// With an error of the tool, which made-up arguments easily bring about.
    ToolError,
    /// It was not made: no arguments could be made up.
    Skipped,
    /// With no result at all.
    Failed,
}

/// Why nothing was found.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Nobody there, or nobody that speaks MCP.
    #[error("'{target}' does not answer as an MCP server: {reason} (is it the server's whole address, path included?)")]
    NotMcp {
        /// What was looked at.
        target: String,
        /// What came instead.
        reason: String,
    },
    /// It took too long.
    #[error("'{target}' has not {what} within {seconds} s (give it more with --timeout)")]
    Slow {
        /// What was looked at.
        target: String,
        /// What was waited for.
        what: &'static str,
        /// For how long.
        seconds: u64,
    },
    /// It wants somebody we are not.
    #[error(transparent)]
    Authorization(super::oauth::OauthError),
    /// It says what tools it has in a way that makes no sense.
    #[error("the tools of '{target}' cannot be listed: {reason}")]
    NoList {
        /// What was looked at.
        target: String,
        /// What came instead.
        reason: String,
    },
}

/// Looks at a server.
///
/// # Errors
/// There is no server, or it cannot be talked to. What goes wrong in a call is in the result.
pub async fn probe(probe: &Probe) -> Result<Found, ProbeError> {
    let Target::Http(url) = &probe.target;
    let target = url.to_string();
    let slow = |what| ProbeError::Slow { target: target.clone(), what, seconds: probe.limit.as_secs() };
    let begun = Instant::now();
    let service = timeout(probe.limit, connect(url, probe)).await.map_err(|_| slow("connected"))??;
    let connect_ms = millis(begun);
    let listed = timeout(probe.limit, service.list_all_tools()).await.map_err(|_| slow("listed its tools"))?;
    let tools = listed.map_err(|error| match oauth_error(&error) {
        Some(error) => ProbeError::Authorization(error.clone()),
        None => ProbeError::NoList { target: target.clone(), reason: error.to_string() },
    })?;
    let mut calls = Vec::new();
    match &probe.calls {
        Some(planned) => {
            for call in planned {
                calls.push(called(&service, &call.name, call.arguments.clone(), probe.limit).await);
            }
        }
        None => {
            for tool in &tools {
                let made = made_up(&Value::Object(Map::clone(&tool.input_schema)));
                calls.push(match made {
                    Ok(arguments) => called(&service, &tool.name, arguments, probe.limit).await,
                    Err(why) => skipped(&tool.name, why),
                });
            }
        }
    }
    let info = service.peer().peer_info();
    let server = info.as_ref().and_then(|info| info.server_info.as_ref());
    let (server, version) = server.map_or_else(Default::default, |server| {
        (server.name.clone(), server.version.clone())
    });
    let protocol = info.map(|info| info.protocol_version.to_string()).unwrap_or_default();
    // A server that does not let go is left to itself.
    let _ = timeout(probe.limit, service.cancel()).await;
    let tools = tools.into_iter().map(offered).collect();
    Ok(Found { protocol, server, version, connect_ms, tools, calls })
}

/// A connection whose requests carry a token as soon as the server wants one.
async fn connect(url: &Url, probe: &Probe) -> Result<RunningService<RoleClient, Face>, ProbeError> {
    let not_mcp = |reason: String| ProbeError::NotMcp { target: url.to_string(), reason };
    let consent = Headless::new().map_err(|error| not_mcp(error.to_string()))?;
    let client = (probe.client.clone(), Way::Offered);
    let authorizer = Authorizer::new(url.as_str(), url.clone(), client, Shelf::in_memory());
    let authorizer = Arc::new(authorizer.with_consent(Arc::new(consent)));
    let http = reqwest::Client::builder().connect_timeout(probe.limit).build();
    let http = http.map_err(|error| not_mcp(error.to_string()))?;
    let transport = StreamableHttpClientTransport::with_client(
        Carried::new(http, Some(authorizer)),
        StreamableHttpClientTransportConfig::with_uri(url.as_str()),
    );
    let connected = Face.serve_with_lifecycle(transport, lifecycle(probe.revision.as_deref())).await;
    connected.map_err(|error| match oauth_error(&error) {
        Some(error) => ProbeError::Authorization(error.clone()),
        None => not_mcp(reason(&error)),
    })
}

/// The innermost cause, which is the one that says something.
fn reason(error: &ClientInitializeError) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// How a server that should speak `revision` is greeted.
fn lifecycle(revision: Option<&str>) -> ClientLifecycleMode {
    match revision {
        Some(revision) if revision < STATELESS => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    }
}

async fn called(
    service: &RunningService<RoleClient, Face>,
    name: &str,
    arguments: Map<String, Value>,
    limit: Duration,
) -> Called {
    let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments.clone());
    let begun = Instant::now();
    let answer = timeout(limit, service.call_tool(request)).await;
    let ms = millis(begun);
    let (outcome, text) = match answer {
        Err(_) => (Outcome::Failed, format!("no answer within {} s", limit.as_secs())),
        Ok(Ok(result)) => {
            let parts = result.content.iter().filter_map(|part| Some(part.as_text()?.text.as_str()));
            let text = parts.collect::<Vec<_>>().join("\n");
            let is_error = result.is_error == Some(true);
            (if is_error { Outcome::ToolError } else { Outcome::Answered }, text)
        }
        Ok(Err(ServiceError::McpError(error))) if error.code == ErrorCode::INVALID_PARAMS => {
            (Outcome::ToolError, error.message.into_owned())
        }
        Ok(Err(error)) => {
            let text = oauth_error(&error).map_or_else(|| error.to_string(), ToString::to_string);
            (Outcome::Failed, text)
        }
    };
    Called { tool: name.to_owned(), arguments, outcome, text, ms }
}

fn skipped(tool: &str, why: String) -> Called {
    Called {
        tool: tool.to_owned(),
        arguments: Map::new(),
        outcome: Outcome::Skipped,
        text: why,
        ms: 0.0,
    }
}

fn offered(tool: Tool) -> Offered {
    Offered {
        name: tool.name.into_owned(),
        description: tool.description.map(Into::into).unwrap_or_default(),
    }
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

/// What the server sees of us.
struct Face;

impl ClientHandler for Face {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        "glyphoxa".clone_into(&mut info.client_info.name);
        env!("CARGO_PKG_VERSION").clone_into(&mut info.client_info.version);
        let form = FormElicitationCapability::new().with_schema_validation(true);
        info.capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let schema = serde_json::to_value(requested_schema).unwrap_or_default();
        Ok(match filled(&schema) {
            Some(form) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(form))
            }
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(ErrorData::new(DECLINED, "no model is asked for servers here", None))
    }
}

/// Arguments that pass `schema`, as few as it allows.
fn made_up(schema: &Value) -> Result<Map<String, Value>, String> {
    minimal(schema, &Schema::new(schema)?)
}

/// A form with every default of its schema, and what else it must have.
fn filled(schema: &Value) -> Option<Map<String, Value>> {
    let mut form = made_up(schema).ok()?;
    for (key, property) in schema.get("properties").and_then(Value::as_object)? {
        if let Some(default) = property.get("default") {
            form.entry(key).or_insert_with(|| default.clone());
        }
    }
    Some(form)
}
