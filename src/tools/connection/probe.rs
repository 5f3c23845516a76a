//! One look at a server from outside: what it speaks, what it offers, what its tools answer.
//!
//! Entry function: [`probe`], over the same connections the table has. Calls every tool with
//! arguments made from its schema, and fills forms with the defaults of their schema.
//! **Never**: offers anything to an NPC, keeps a login.

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
    answer::Refusal,
    client::{Client, Era, RequestError},
    client_handler::{ClientHandler, Gate},
    definitions::Listed,
    facts::Facts,
    http_client::{Authorization, HttpClient, HttpError, HttpOptions},
    notices::Notices,
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
use crate::{domain::redact, launch};

/// A server to probe, and how.
pub struct Probe {
    /// Location of the server.
    pub target: Target,
    /// Revision to speak; `None`: the newest that both know.
    pub revision: Option<String>,
    /// Calls to make; `None`: one of every tool, with made-up arguments.
    pub calls: Option<Vec<Planned>>,
    /// Our identity if the server wants authorization.
    pub client: oauth::Client,
    /// Longest wait for the connection and its list, and for each call.
    pub limit: Duration,
}

/// Location of a server.
pub enum Target {
    /// Behind streamable HTTP.
    Http(Url),
    /// A program that is started.
    Stdio(Program),
}

/// A server that is a program.
pub struct Program {
    /// Program and arguments, at least the program.
    pub command: Vec<String>,
    /// Variables of ours that it gets.
    pub environment: BTreeMap<String, String>,
    /// Files and folders it may reach.
    pub sandbox: Sandbox,
    /// A folder that is made for it.
    pub folder: PathBuf,
    /// Files and folders it may not read.
    pub hidden: Vec<PathBuf>,
}

/// A call to be made.
pub struct Planned {
    /// Name of the tool on the wire.
    pub name: String,
    /// Its arguments, as given.
    pub arguments: Map<String, Value>,
}

/// Result of a probe.
#[derive(Debug, Serialize)]
pub struct ProbeReport {
    /// Revision of the protocol that was spoken.
    pub protocol: String,
    /// Name that the server gives itself.
    pub server: String,
    /// The version it says it has; may be empty.
    pub version: String,
    /// Milliseconds to the list of its tools, authorization included.
    pub ready_ms: f64,
    /// Every tool that can be called, in the server's order.
    pub tools: Vec<Offered>,
    /// Every call made, in order.
    pub calls: Vec<ProbeCall>,
}

/// A tool as the server describes it.
#[derive(Debug, Serialize)]
pub struct Offered {
    /// Name on the wire.
    pub name: String,
    /// The server's description of it.
    pub description: String,
}

/// A call that was made.
#[derive(Debug, Serialize)]
pub struct ProbeCall {
    /// Name of the tool.
    pub tool: String,
    /// With what it was called.
    pub arguments: Map<String, Value>,
    /// Outcome of the call.
    pub outcome: Outcome,
    /// The text of its answer, or why there is none.
    pub text: String,
    /// Milliseconds to the answer.
    pub ms: f64,
}

/// Outcome of a call.
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

/// Error of a probe that found nothing.
#[derive(Debug, thiserror::Error)]
#[error("'{target}' cannot be used as an MCP server: {reason}")]
pub struct ProbeError {
    /// The server, for a message.
    target: String,
    /// The failure, and the way out.
    reason: OpenError,
}

/// Reason a server could not be probed; its text begins with "it", the server.
#[derive(Debug, thiserror::Error)]
enum OpenError {
    #[error("it was not ready within {0} s (see --timeout)")]
    Late(u64),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Start(#[from] StartError),
    /// In its own words, with the last ones of its process.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Tools(#[from] RequestError),
}

/// A text that is no address of a server.
#[derive(Debug, thiserror::Error)]
#[error("invalid address '{0}' (give http://… or https://…, or a command after --)")]
pub struct NoAddress(String);

/// A connection, and the process at its other end.
struct OpenClient {
    client: Client,
    child: Option<Child>,
}

/// Looks at a server.
///
/// # Errors
/// The server cannot be started or reached, or does not list its tools in time. Failures of single calls are
/// in the result.
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
    /// The server at `address`.
    ///
    /// # Errors
    /// It is no HTTP address.
    pub fn http(address: &str) -> Result<Self, NoAddress> {
        let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        url.map(Self::Http).ok_or_else(|| NoAddress(address.to_owned()))
    }

    /// Its name in messages.
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

/// Authorization as far as it goes without a person.
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
    let answer = timeout(limit, client.call(&tool.wire, &arguments, Whose::table(effects))).await;
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

/// Arguments that pass `schema`, as few as it allows.
fn made_up(schema: &Value) -> Result<Map<String, Value>, NoArguments> {
    minimal(schema, &Schema::new(schema)?)
}

/// Answers forms with what they must have; their defaults are added by the connection.
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
