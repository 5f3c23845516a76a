//! Probes a server from outside: its protocol, tools and answers. Uses the table's connections,
//! calls every tool with arguments made from its schema, and fills forms with their defaults.
//! **Never**: offers anything to an NPC, stores a login.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{FutureExt, future::BoxFuture};
use reqwest::Url;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    Notices,
    answer::Refusal,
    client::{Client, Era, RequestError},
    client_handler::{ClientHandler, Gate},
    definitions::Listed,
    facts::Facts,
    http_client::{Authorization, HttpClient, HttpError, HttpOptions},
    oauth::{self, Authorizer, CredentialStore, Headless},
    open_calls::{OpenCalls, Whose},
    options::{Sandbox, Secret},
    stdio::{Child, Room, Start, StartError, Streams},
    stdio_transport::StdioTransport,
    tail::Tail,
    traffic::Traffic,
};
use crate::tools::{
    Attachment, CallErrorKind, Effects, Form,
    calibrate::{NoArguments, minimal},
    schema::{Schema, apart},
};
use crate::traces::Span;
use crate::{domain::redact, launch};

/// A server to probe, and how.
pub struct Probe {
    pub target: Target,
    /// Protocol revision; `None`: the newest both support.
    pub revision: Option<String>,
    /// `None`: one call of every tool, with generated arguments.
    pub calls: Option<Vec<Planned>>,
    pub client: oauth::Client,
    /// Longest wait for the connection and list, and for each call.
    pub limit: Duration,
}

pub enum Target {
    Http(Url),
    Stdio(Program),
}

pub struct Program {
    /// Program and arguments; at least the program.
    pub command: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub sandbox: Sandbox,
    pub folder: PathBuf,
    /// Unreadable files and folders.
    pub hidden: Vec<PathBuf>,
}

pub struct Planned {
    pub name: String,
    pub arguments: Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub struct ProbeReport {
    pub protocol: String,
    pub server: String,
    /// May be empty.
    pub version: String,
    /// Milliseconds until its tools were listed, authorization included.
    pub ready_ms: f64,
    /// Callable tools, in the server's order.
    pub tools: Vec<Offered>,
    /// In order.
    pub calls: Vec<ProbeCall>,
}

#[derive(Debug, Serialize)]
pub struct Offered {
    pub name: String,
    pub description: String,
}

#[derive(Debug, Serialize)]
pub struct ProbeCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub outcome: Outcome,
    /// Text of the answer, or the error.
    pub text: String,
    pub ms: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Answered,
    /// The tool reported an error, which generated arguments easily cause.
    ToolError,
    /// No arguments could be generated.
    Skipped,
    /// No result.
    Failed,
}

#[derive(Debug, thiserror::Error)]
#[error("'{target}' cannot be used as an MCP server: {reason}")]
pub struct ProbeError {
    target: String,
    /// The failure and its fix.
    reason: OpenError,
}

/// Reason a server could not be probed; its text begins with "it", meaning the server.
#[derive(Debug, thiserror::Error)]
enum OpenError {
    #[error("it was not ready within {0} s (see --timeout)")]
    Late(u64),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Start(#[from] StartError),
    /// In its own words, with the last lines of its stderr.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Tools(#[from] RequestError),
}

#[derive(Debug, thiserror::Error)]
#[error("invalid address '{0}' (give http://… or https://…, or a command after --)")]
pub struct NoAddress(String);

struct OpenClient {
    client: Client,
    child: Option<Child>,
}

/// Probes a server. Fails if it cannot be started or reached, or does not list its tools in time;
/// failures of single calls are in the report.
pub async fn probe(probe: &Probe) -> Result<ProbeReport, ProbeError> {
    let begun = Instant::now();
    let ready = async {
        let opened = open(probe).await?;
        let tools = opened.client.tools().await?.tools;
        Ok((opened, tools))
    };
    let slow = OpenError::Late(probe.limit.as_secs());
    let ready = timeout(probe.limit, ready).await.unwrap_or(Err(slow));
    let failed = |reason: OpenError| ProbeError { target: probe.target.name(), reason };
    let (OpenClient { client, child }, tools) = ready.map_err(failed)?;
    let ready_ms = millis(begun);
    let mut calls = Vec::new();
    for planned in probe.calls.iter().flatten() {
        let arguments = planned.arguments.clone();
        let tool = Listed::named(&planned.name);
        calls.push(called(&client, &tool, arguments, probe.limit).await);
    }
    for tool in tools.iter().filter(|_| probe.calls.is_none()) {
        let input = Value::clone(&tool.input);
        let made = apart::at_leisure(move || made_up(&input)).await;
        calls.push(match made.unwrap_or(Err(NoArguments::Endless)) {
            Ok(arguments) => called(&client, tool, arguments, probe.limit).await,
            Err(why) => ProbeCall {
                tool: tool.name.clone(),
                arguments: Map::new(),
                outcome: Outcome::Skipped,
                text: why.to_string(),
                ms: 0.0,
            },
        });
    }
    let (server, version) = client.peer();
    let protocol = client.revision();
    client.close().await;
    if let Some(child) = child {
        child.end().await;
    }
    let offered = |tool: Listed| Offered { name: tool.name, description: tool.description };
    let tools = tools.into_iter().map(offered).collect();
    Ok(ProbeReport { protocol, server, version, ready_ms, tools, calls })
}

impl Target {
    /// The server at the HTTP address `address`.
    pub fn http(address: &str) -> Result<Self, NoAddress> {
        let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        url.map(Self::Http).ok_or_else(|| NoAddress(address.to_owned()))
    }

    fn name(&self) -> String {
        match self {
            Self::Http(url) => redact::address(url.as_str()),
            Self::Stdio(program) => redact::text(&program.command.join(" ")),
        }
    }
}

impl Program {
    async fn start(&self, tail: Arc<Tail>) -> Result<(Child, Streams), StartError> {
        let ours = self.environment.iter();
        let room = Room {
            launcher: launch::SELF.into(),
            homes: self.folder.clone(),
            hidden: self.hidden.clone(),
            environment: ours.map(|(name, value)| (name.clone(), Secret(value.clone()))).collect(),
        };
        let start = Start {
            room: &room,
            name: "probe",
            command: &self.command,
            folder: None,
            environment: Vec::new(),
            sandbox: &self.sandbox,
            tail,
            shown: Box::new(|_| {}),
        };
        Child::start(start).await
    }
}

async fn open(probe: &Probe) -> Result<OpenClient, OpenError> {
    let era = match probe.revision.as_deref() {
        Some(revision) if revision < Era::Stateless.revision() => Some(Era::Handshake),
        Some(_) => Some(Era::Stateless),
        None => None,
    };
    let lost = CancellationToken::new();
    let handler = ClientHandler {
        server: "probe".into(),
        notices: Arc::new(Notices::default()),
        open: Arc::new(OpenCalls::default()),
        traffic: Arc::new(Traffic::default()),
        may_sample: false,
        debug: false,
        gate: Gate::new(),
    };
    match &probe.target {
        Target::Http(url) => {
            let wire = HttpClient::new(HttpOptions {
                url: url.as_str(),
                may_be_inside: true,
                headers: &[],
                authorization: Authorization::Managed(Arc::new(authorizer(url, probe))),
                facts: Arc::new(Facts::default()),
                session: None,
            })?;
            let opened = Client::open(wire.transport(url.as_str()), handler, era, lost).await;
            let client = opened.map_err(|refusal| OpenError::Refused(in_words(refusal)))?;
            Ok(OpenClient { client, child: None })
        }
        Target::Stdio(program) => {
            let tail = Arc::new(Tail::default());
            let (child, streams) = program.start(Arc::clone(&tail)).await?;
            let transport =
                StdioTransport::new("probe".into(), streams.read, streams.write, lost.clone());
            match Client::open(transport, handler, era, lost).await {
                Ok(client) => Ok(OpenClient { client, child: Some(child) }),
                Err(refusal) => {
                    let words = tail.last_words().await.map(|words| format!(": {words}"));
                    child.end().await;
                    let refused = format!("{}{}", in_words(refusal), words.unwrap_or_default());
                    Err(OpenError::Refused(refused))
                }
            }
        }
    }
}

/// Authorization without a person.
fn authorizer(url: &Url, probe: &Probe) -> Authorizer {
    let (client, store) = (probe.client.clone(), CredentialStore::in_memory());
    let resource = oauth::Resource { address: url.clone(), may_be_inside: true };
    let consent = Headless::new(resource.outbound(&client.authority));
    let grant = oauth::Grant::Offered;
    let authorizer = Authorizer::new(url.as_str(), resource, client, grant, store);
    authorizer.with_consent(Arc::new(consent))
}

fn in_words(refusal: Refusal) -> String {
    match refusal {
        Refusal::Unauthorized => "it refuses the token it issued".to_owned(),
        Refusal::Gone => "it ended before it was ready".to_owned(),
        Refusal::Other(reason) => reason,
    }
}

async fn called(
    client: &Client,
    tool: &Listed,
    arguments: Map<String, Value>,
    limit: Duration,
) -> ProbeCall {
    let effects: Arc<dyn Effects> = Arc::new(Defaults);
    let begun = Instant::now();
    let untraced = Span::default();
    let call = client.call(&tool.wire, &arguments, Whose::table(effects), &untraced);
    let answer = timeout(limit, call).await;
    let ms = millis(begun);
    let (outcome, text) = match answer {
        Err(_) => (Outcome::Failed, format!("no answer within {} s", limit.as_secs())),
        Ok(Ok(output)) => (Outcome::Answered, output.for_model()),
        Ok(Err(error)) => match error.kind {
            CallErrorKind::Tool | CallErrorKind::InvalidArguments => {
                (Outcome::ToolError, error.message)
            }
            _ => (Outcome::Failed, error.message),
        },
    };
    ProbeCall { tool: tool.name.clone(), arguments, outcome, text, ms }
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

/// The smallest arguments that pass `schema`.
fn made_up(schema: &Value) -> Result<Map<String, Value>, NoArguments> {
    minimal(schema, &Schema::new(schema)?)
}

/// Answers forms with required values; the connection adds the defaults.
struct Defaults;

impl Effects for Defaults {
    fn show(&self, _: &str) {}

    fn attach(&self, _: &str, _: &Attachment) -> bool {
        true
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        async move { apart::at_leisure(move || made_up(&form.schema).ok()).await.flatten() }.boxed()
    }
}
