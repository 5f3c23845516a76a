//! One server from its first connection to its removal: connects, offers tools, follows changes,
//! and reconnects after a loss with growing, jittered waits.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    Notices,
    answer::{self, Refusal},
    backoff::{Ending, LONGEST_WAIT, Row, TRIPPED_WAIT},
    client::{Client, RequestError, ToolList},
    client_handler::{ClientHandler, Gate},
    definitions::Listed,
    facts::{SessionFacts, UnknownName},
    http_client::{Authorization, HttpClient, HttpError, HttpOptions},
    oauth::NoAuthorizer,
    open_calls::OpenCalls,
    options::{Auth, Reach, Sandbox, Secret, ServerAddress, ServerOptions},
    resources,
    settle::{self, Never},
    shared::Shared,
    shared_status::{Details, SharedStatus},
    status::State,
    stdio::{self, Child, Start, StartError},
    stdio_transport::StdioTransport,
    tail::Tail,
    traffic::Traffic,
};
use crate::{
    domain::{Owner, Scope},
    launch,
    panics::caught,
    tools::{ServerKey, SourceKind},
};

struct Run<'a> {
    command: &'a [String],
    folder: Option<&'a Path>,
    env: &'a BTreeMap<String, Secret>,
    sandbox: &'a Sandbox,
}

/// Wait before measuring a ready server's tools, so that first calls stay out of the figures.
const MEASURED_AFTER: Duration = Duration::from_secs(2);
/// Changes within this time count as one.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// Changes that recur within this time are a storm.
const CALM: Duration = Duration::from_secs(10);
/// A connection this long ends a row of failures.
const STOOD: Duration = Duration::from_secs(60);

pub struct Server {
    pub options: ServerOptions,
    /// Owner its tools are for: the one that added it, or plays `session`; `None`: all owners.
    pub owner: Option<Owner>,
    /// The session in whose name all its requests are made.
    pub session: Option<Arc<SessionFacts>>,
    pub shared: Arc<Shared>,
    pub known: Arc<SharedStatus>,
    /// Seed of the reconnection jitter.
    pub seed: u64,
    pub stop: CancellationToken,
}

/// Reason a connection attempt failed; its text begins with "it", meaning the server.
#[derive(Debug, thiserror::Error)]
enum ConnectError {
    #[error("it was not ready within {} ms", .0.as_millis())]
    Late(Duration),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Authorizer(#[from] NoAuthorizer),
    /// In its own words, with the last lines of its stderr.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Tools(#[from] RequestError),
}

struct Connected {
    client: Arc<Client>,
    child: Option<Child>,
    wire: Option<HttpClient>,
    tools: ToolList,
}

/// True if `url` looks like an address of the retired `sse` transport.
fn is_of_sse(url: &str) -> bool {
    url.split(['?', '#']).next().is_some_and(|url| url.trim_end_matches('/').ends_with("/sse"))
}

impl Server {
    /// Keeps the server connected until it is stopped. Cancelling it leaves no child behind.
    pub async fn run(self) {
        let mut jitter = StdRng::seed_from_u64(self.seed);
        let mut row = Row::default();
        loop {
            if self.stop.run_until_cancelled(self.informed()).await.is_none() {
                break;
            }
            let Some(ending) = self.connection(&mut row).await else { break };
            let name = self.address().name();
            let wait = row.wait(&ending, self.options.reconnect, jitter.random());
            let is_replaced = matches!(ending, Ending::Replaced(_));
            let (Ending::Lost(reason) | Ending::Replaced(reason)) = ending;
            let Some(wait) = wait else {
                tracing::warn!(server = name, reason, "server failed and will not be retried");
                self.known.state.send_replace(State::Failed { reason });
                return;
            };
            let wait_ms = wait.as_millis();
            match row.failures {
                _ if is_replaced => {
                    tracing::info!(server = name, reason, wait_ms, "server restarts")
                }
                1 => tracing::warn!(server = name, reason, wait_ms, "server failed"),
                _ => tracing::debug!(server = name, reason, wait_ms, "server failed again"),
            }
            if !wait.is_zero() {
                let until = Instant::now() + wait;
                self.known.state.send_replace(State::Waiting { reason: reason.clone(), until });
                if self.stop.run_until_cancelled(sleep_until(until)).await.is_none() {
                    break;
                }
            }
            self.known.state.send_replace(State::Reconnecting { reason });
        }
        self.known.state.send_replace(State::Stopped);
    }

    /// One connection from attempt to end; `None`: the server was stopped. A connection of
    /// [`STOOD`] or longer ends `row`.
    async fn connection(&self, row: &mut Row) -> Option<Ending> {
        let attempt = self.stop.run_until_cancelled(caught(self.attempt())).await?;
        match attempt {
            Ok(Ok(connected)) => {
                let since = Instant::now();
                let ended = caught(self.serve(connected)).await.unwrap_or_else(|fault| {
                    self.withdraw();
                    Some(Ending::Lost(fault.to_string()))
                });
                if since.elapsed() > STOOD {
                    *row = Row::default();
                }
                ended
            }
            Ok(Err(error)) => Some(Ending::Lost(error.to_string())),
            Err(fault) => Some(Ending::Lost(fault.to_string())),
        }
    }

    /// Key of the server, by the prefix of its tools' identities.
    pub(super) fn key(&self) -> ServerKey {
        ServerKey { owner: self.owner, name: self.options.identity().to_owned() }
    }

    /// Address under which its records are stored.
    pub(super) fn address(&self) -> ServerAddress {
        address(self.owner, &self.options)
    }

    /// Its owner; `None`: configured.
    pub(super) fn added_by(&self) -> Option<Owner> {
        self.owner.filter(|_| self.session.is_none())
    }

    /// One attempt under its deadline.
    async fn attempt(&self) -> Result<Connected, ConnectError> {
        let patience = self.options.connect_timeout;
        timeout(patience, self.connect()).await.unwrap_or(Err(ConnectError::Late(patience)))
    }

    async fn connect(&self) -> Result<Connected, ConnectError> {
        let late = AtomicBool::new(false);
        match self.connect_once(&late, false).await {
            // It answered discovery, but too late.
            Err(_) if late.load(Ordering::Relaxed) => self.connect_once(&late, true).await,
            other => other,
        }
    }

    /// Connects. `slow`: it speaks the new revision but starts slowly; `late` is set if that turns
    /// out.
    async fn connect_once(&self, late: &AtomicBool, slow: bool) -> Result<Connected, ConnectError> {
        let lost = CancellationToken::new();
        let handler = ClientHandler {
            server: Arc::clone(&self.known.link.server),
            notices: Arc::new(Notices::default()),
            open: Arc::new(OpenCalls::default()),
            traffic: Arc::new(Traffic::default()),
            may_sample: self.options.allow_sampling,
            debug: self.options.debug,
            gate: Gate::new(),
        };
        let era = self.shared.remembered.era(&self.address());
        let (mut child, mut wire) = (None, None);
        let opened = match &self.options.reach {
            Reach::Stdio { command, folder, env, sandbox } => {
                if self.added_by().is_none()
                    && let Some(reason) = self.shared.refusal().await
                {
                    return Err(ConnectError::Refused(format!("it was not started: {reason}")));
                }
                let run = Run { command, folder: folder.as_deref(), env, sandbox };
                let (started, streams) = self.start(run).await?;
                child = Some(started);
                let name = Arc::clone(&self.known.link.server);
                let transport =
                    StdioTransport::new(name, streams.read, streams.write, lost.clone());
                if slow {
                    Client::discover(transport.patient(), handler, lost).await
                } else {
                    let transport = if era.is_some() { transport.patient() } else { transport };
                    let was_late = transport.late();
                    let opened = Client::open(transport, handler, era, lost).await;
                    late.store(was_late.load(Ordering::Relaxed), Ordering::Relaxed);
                    opened
                }
            }
            Reach::Http { url, may_be_inside, headers, auth } => {
                let new = HttpClient::new(HttpOptions {
                    url,
                    may_be_inside: *may_be_inside,
                    headers,
                    authorization: self.authorization(auth)?,
                    facts: Arc::clone(&self.shared.facts),
                    session: self.session.clone(),
                })?;
                let transport = new.transport(url);
                wire = Some(new);
                Client::open(transport, handler, era, lost).await
            }
        };
        let client = match opened {
            Ok(client) => Arc::new(client),
            Err(refusal) => {
                return Err(ConnectError::Refused(self.explained(refusal, child).await));
            }
        };
        let tools = client.tools().await?;
        self.shared.remembered.set_era(&self.address(), client.era());
        Ok(Connected { client, child, wire, tools })
    }

    /// Starts its process.
    async fn start(
        &self,
        Run { command, folder, env, sandbox }: Run<'_>,
    ) -> Result<(Child, super::stdio::Streams), StartError> {
        let tail = Arc::new(Tail::default());
        self.known.link.tail.store(Some(Arc::clone(&tail)));
        let (server, debug) = (self.options.name.clone(), self.options.debug);
        let shown = Box::new(move |line: &str| match debug {
            true => tracing::info!(server, line, "server stderr"),
            false => tracing::debug!(server, line, "server stderr"),
        });
        let environment = env.iter().map(|(name, value)| (name.as_str(), value)).collect();
        // Each owner's program has a home of its own.
        let (room, name) = (&self.shared.room, &self.address().name());
        let start = Start { room, name, command, folder, environment, sandbox, tail, shown };
        Child::start(start).await
    }

    fn authorization(&self, auth: &Auth) -> Result<Authorization, NoAuthorizer> {
        match auth {
            Auth::None => Ok(Authorization::None),
            Auth::Token(token) => Ok(Authorization::Bearer(token.clone())),
            Auth::Login { .. } | Auth::Client(_) => {
                Ok(Authorization::Managed(self.shared.tokens.source(&self.options)?))
            }
        }
    }

    /// Explains `refusal` with the last lines of the process's stderr; ends the process.
    async fn explained(&self, refusal: Refusal, child: Option<Child>) -> String {
        let may_be_old = child.is_none() && !matches!(refusal, Refusal::Unauthorized);
        let mut reason = match refusal {
            Refusal::Unauthorized => format!("it {}", answer::unauthorized(&self.options.name)),
            Refusal::Gone => "it ended before it was ready".to_owned(),
            Refusal::Other(reason) => reason,
        };
        if let Some(mut child) = child {
            let words = self.known.link.last_words().await;
            if let Some(exit) = child.exit().await {
                reason.push_str(&format!(", {exit}"));
            }
            if let Some(words) = words {
                reason.push_str(&format!(": {words}"));
                reason.push_str(self.way_out(&words));
            }
            child.end().await;
        }
        if may_be_old {
            reason.push_str(self.way_out(""));
        }
        reason
    }

    /// Hint for a permission error of a confined child, or for an `sse` address.
    fn way_out(&self, words: &str) -> &'static str {
        match &self.options.reach {
            Reach::Stdio { sandbox: Sandbox::Confined { .. }, .. } if stdio::is_refusal(words) => {
                " (it runs confined: name the folder under its sandbox: { read: […], write: […] }, \
                 or set sandbox: off)"
            }
            Reach::Http { url, .. } if is_of_sse(url) => {
                " (its address is one of sse, which MCP deprecated in 2025: use the server's \
                 streamable HTTP address, which usually ends with /mcp)"
            }
            _ => "",
        }
    }

    /// Offers the server's tools until it is lost or stopped; `None`: stopped.
    async fn serve(&self, connected: Connected) -> Option<Ending> {
        let Connected { client, child, wire, tools } = connected;
        let held = child.as_ref().map(|child| child.held().to_vec()).unwrap_or_default();
        self.known.link.client.store(Some(Arc::clone(&client)));
        self.known.change(|details| {
            details.held_files = held.iter().map(|it| it.path().display().to_string()).collect();
            details.revision = Some(client.revision());
            details.calls_itself = client.peer();
            details.traffic = Arc::clone(client.traffic());
            details.list_bytes = tools.bytes;
        });
        let tools = tools.tools;
        self.offer(&tools).await;
        let changes = self.shared.facts.changes();
        let values = self.values().ok();
        if self.options.resources {
            self.read_resources(&client).await;
        }
        self.known.state.send_replace(State::Ready);
        tracing::info!(server = self.address().name(), "server ready");
        let ended = tokio::select! {
            () = self.stop.cancelled() => None,
            () = client.lost().cancelled() => {
                let reason = client.traffic().left().unwrap_or("it has ended");
                Some(Ending::Lost(reason.to_owned()))
            }
            reason = self.follow(&client, tools) => Some(Ending::Lost(reason)),
            () = self.doubted(&client) => Some(Ending::Lost("it no longer answers".to_owned())),
            file = launch::replaced(&held) => Some(Ending::Replaced(format!(
                "its file '{}' was replaced, and it may not read another one of that name until it \
                 is started again",
                file.display()
            ))),
            never = listen(&client, self.options.resources) => match never {},
            never = settle::settle(&client, wire.as_ref()) => match never {},
            never = self.measure() => match never {},
            never = self.read_again(&client, changes, values) => match never {},
        };
        self.withdraw();
        client.close().await;
        match child {
            Some(child) => self.left(child, ended).await,
            None => ended,
        }
    }

    /// Ends `child`; adds its last stderr lines to the reason.
    async fn left(&self, mut child: Child, ended: Option<Ending>) -> Option<Ending> {
        let ended = match ended {
            Some(Ending::Lost(mut reason)) => {
                if let Some(exit) = child.exit().await {
                    reason.push_str(&format!(", {exit}"));
                }
                if let Some(words) = self.known.link.last_words().await {
                    reason.push_str(&format!(": {words}"));
                }
                Some(Ending::Lost(reason))
            }
            ended => ended,
        };
        child.end().await;
        ended
    }

    /// Withdraws tools and details.
    fn withdraw(&self) {
        self.known.link.client.store(None);
        self.shared.host.catalog().withdraw(&self.key(), SourceKind::Server);
        self.shared.facts.set(&self.key(), std::collections::BTreeMap::new());
        self.known.change(|details| *details = Details::default());
    }

    /// Applies list changes as they come; returns the error when a list cannot be read.
    async fn follow(&self, client: &Client, mut tools: Vec<Listed>) -> String {
        let (mut wait, mut looked) = (DEBOUNCE, None::<Instant>);
        loop {
            client.notices().some().await;
            // Back off for a server that announces changes endlessly.
            let is_storm = looked.is_some_and(|looked| looked.elapsed() < CALM);
            wait = if is_storm { (wait * 2).min(LONGEST_WAIT) } else { DEBOUNCE };
            sleep(wait).await;
            looked = Some(Instant::now());
            let (tools_changed, resources_changed) = client.notices().take();
            if tools_changed {
                match client.tools().await {
                    Ok(ToolList { tools: now, bytes }) => {
                        self.known.change(|details| details.list_bytes = bytes);
                        // An unchanged list may have been approved meanwhile.
                        let waits = || !self.known.details().held.is_empty();
                        if now != tools || waits() {
                            self.offer(&now).await;
                            self.tell_changes(&tools, &now);
                            tools = now;
                        }
                    }
                    Err(error) => return error.to_string(),
                }
            }
            if resources_changed && self.options.resources {
                self.read_resources(client).await;
            }
        }
    }

    /// Measures tools without figures once the connection has settled.
    async fn measure(&self) -> Never {
        sleep(MEASURED_AFTER).await;
        let host = &self.shared.host;
        let owner = self.owner.unwrap_or(host.scope().owner);
        let host = host.within(&Scope { owner, ..host.scope().clone() });
        host.calibrate_new(&self.key()).await;
        std::future::pending().await
    }

    /// Returns when a call has failed and the server does not answer.
    async fn doubted(&self, client: &Client) {
        loop {
            self.known.link.doubt.notified().await;
            if !client.answers().await {
                return;
            }
        }
    }

    /// Reads its resources; without values for its variables, keeps the earlier ones.
    pub(super) async fn read_resources(&self, client: &Client) {
        let vars = match self.resource_vars() {
            Ok(vars) => vars,
            Err(UnknownName(name)) => {
                let server = self.address().name();
                tracing::warn!(server, name, "resources not read: a name has no value");
                return;
            }
        };
        let read = resources::read_all(client, &self.options.name, &vars).await;
        self.known.change(|details| {
            details.resources = read.all.keys().cloned().collect();
            details.resource_bytes = read.bytes;
        });
        self.shared.facts.set(&self.key(), read.all);
    }
}

/// Address under which a server's records are stored.
pub fn address(owner: Option<Owner>, options: &ServerOptions) -> ServerAddress {
    ServerAddress { owner, server: options.name.clone(), endpoint: options.reach.key() }
}

/// Subscribes to changes, again after each end.
async fn listen(client: &Client, resources: bool) -> Never {
    let mut wait = Duration::from_secs(1);
    loop {
        let since = Instant::now();
        client.listen(resources).await;
        wait = if since.elapsed() > STOOD { Duration::from_secs(1) } else { wait * 2 };
        sleep(wait.min(TRIPPED_WAIT)).await;
    }
}
