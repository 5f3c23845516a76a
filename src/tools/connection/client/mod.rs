//! One connection to one server, over either transport. **Never**: reconnects; sends a call twice.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ClientCacheConfig, ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{
        CallToolRequestParams, ClientRequest, PaginatedRequestParams, PingRequest, ProtocolVersion,
        ReadResourceRequestParams, ResourceContents, ServerNotification, SubscriptionFilter,
    },
    service::{ClientInitializeError, RunningService, ServiceError, Subscription},
    transport::Transport,
};
use serde_json::{Map, Value};
use tokio::time::{sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{
    Notices,
    answer::{self, Refusal},
    client_handler::ClientHandler,
    definitions::Listed,
    lists::{Listing, TooLong},
    open_calls::{OpenCalls, Whose},
    traffic::{Guarded, Pace, Traffic},
};
use crate::{
    domain::one_line,
    tools::{CallError, CallOutput},
    traces::{Span, names},
};

/// Longest wait for a request other than a call.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Longest shown name and version of a server, in characters.
const LONGEST_NAME: usize = 80;
const CLOSING: Duration = Duration::from_secs(1);

/// Protocol revisions, by how a connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// With a handshake, up to 2025-11-25.
    Handshake,
    /// Without one, from 2026-07-28 on.
    Stateless,
}

impl Era {
    /// Its newest revision supported here.
    pub const fn revision(self) -> &'static str {
        match self {
            Self::Handshake => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }

    /// The era of a stored revision.
    pub fn of(revision: &str) -> Option<Self> {
        [Self::Handshake, Self::Stateless].into_iter().find(|era| era.revision() == revision)
    }
}

/// Reason a request other than a call has no answer; its text begins with "it", meaning the server.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// An error of the server or the transport.
    #[error("it did not give {what}: {reason}")]
    Failed {
        what: String,
        /// In the server's words.
        reason: String,
    },
    /// The answer exceeds a limit.
    #[error("it did not give {what}: {error}")]
    TooLong {
        what: String,
        /// The exceeded limit.
        error: TooLong,
    },
    /// No answer within [`PATIENCE`].
    #[error("it did not give {what} within {} s", PATIENCE.as_secs())]
    Late { what: String },
    /// A binary resource.
    #[error("{what} has no text")]
    NoText { what: String },
}

pub struct Client {
    service: RunningService<RoleClient, ClientHandler>,
    open: Arc<OpenCalls>,
    notices: Arc<Notices>,
    lost: CancellationToken,
    server: Arc<str>,
    traffic: Arc<Traffic>,
}

pub struct ToolList {
    /// In the server's order.
    pub tools: Vec<Listed>,
    /// Size of the list in bytes.
    pub bytes: usize,
}

impl Client {
    /// Connects over `transport`; without a known era it asks the server. The first part that
    /// notices the server's loss cancels `lost`.
    pub async fn open(
        transport: impl Transport<RoleClient> + 'static,
        handler: ClientHandler,
        era: Option<Era>,
        lost: CancellationToken,
    ) -> Result<Self, Refusal> {
        let legacy = || Some(ProtocolVersion::V_2025_11_25);
        let mode = match era {
            Some(Era::Handshake) => ClientLifecycleMode::Initialize,
            // The server may have changed its revision since.
            Some(Era::Stateless) | None => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: legacy(),
            },
        };
        Self::serve(transport, handler, mode, lost).await
    }

    /// Like [`Self::open`], for a server known to speak [`Era::Stateless`], however slowly it
    /// starts.
    pub async fn discover(
        transport: impl Transport<RoleClient> + 'static,
        handler: ClientHandler,
        lost: CancellationToken,
    ) -> Result<Self, Refusal> {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        Self::serve(transport, handler, ClientLifecycleMode::Discover { preferred_versions }, lost)
            .await
    }

    async fn serve(
        transport: impl Transport<RoleClient> + 'static,
        handler: ClientHandler,
        mode: ClientLifecycleMode,
        lost: CancellationToken,
    ) -> Result<Self, Refusal> {
        let (open, notices) = (Arc::clone(&handler.open), Arc::clone(&handler.notices));
        let (server, traffic) = (Arc::clone(&handler.server), Arc::clone(&handler.traffic));
        let guarded = Guarded {
            inner: transport,
            traffic: Arc::clone(&traffic),
            notices: Arc::clone(&notices),
            lost: lost.clone(),
            shown_as: handler.debug.then(|| Arc::clone(&server)),
            pace: Pace::new(),
            waiting: None,
        };
        match handler.serve_with_lifecycle(guarded, mode).await {
            Ok(service) => {
                // Lists are requested after a change or to test the connection; a cached answer
                // would serve neither.
                let cache = ClientCacheConfig::disabled();
                service.peer().set_response_cache_config(cache).await;
                Ok(Self { service, open, notices, lost, server, traffic })
            }
            Err(error) => Err(match traffic.left() {
                Some(reason) => Refusal::Other(reason.to_owned()),
                None => refusal(&error),
            }),
        }
    }

    /// Era in use.
    pub fn era(&self) -> Era {
        let peer = self.service.peer().peer_info();
        match peer.is_some_and(|peer| !peer.protocol_version.has_initialize()) {
            true => Era::Stateless,
            false => Era::Handshake,
        }
    }

    /// Agreed protocol revision.
    pub fn revision(&self) -> String {
        let peer = self.service.peer().peer_info();
        let agreed = peer.map(|peer| one_line(peer.protocol_version.as_str(), LONGEST_NAME));
        agreed.unwrap_or_else(|| self.era().revision().to_owned())
    }

    pub fn peer(&self) -> (String, String) {
        let peer = self.service.peer().peer_info();
        let peer = peer.as_ref().and_then(|peer| peer.server_info.as_ref());
        let shown = |text: &str| one_line(text.trim(), LONGEST_NAME);
        peer.map(|peer| (shown(&peer.name), shown(&peer.version))).unwrap_or_default()
    }

    /// Count of unasked messages, and the reason the connection was dropped.
    pub fn traffic(&self) -> &Arc<Traffic> {
        &self.traffic
    }

    /// List changes announced by the server.
    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    pub fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    pub async fn tools(&self) -> Result<ToolList, RequestError> {
        let has_tools =
            self.service.peer().peer_info().is_none_or(|it| it.capabilities.tools.is_some());
        if !has_tools {
            return Ok(ToolList { tools: Vec::new(), bytes: 0 });
        }
        let (tools, bytes) = listed("its tools", |page| async move {
            let page = self.service.list_tools(Some(page)).await?;
            Ok((page.tools, page.next_cursor))
        })
        .await?;
        Ok(ToolList { tools: tools.into_iter().map(Listed::from).collect(), bytes })
    }

    /// Calls a tool once, with the parent `span` in `_meta`. Cancel safe: dropping the future cancels
    /// the call at the server.
    pub async fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        whose: Whose,
        span: &Span,
    ) -> Result<CallOutput, CallError> {
        let mut request =
            CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.clone());
        if let Some(parent) = span.traceparent() {
            request.meta.get_or_insert_default().set_traceparent(parent);
            span.set(names::MCP_METHOD, names::TOOLS_CALL);
            span.set(names::MCP_PROTOCOL, self.revision());
            span.set(names::SERVER, &*self.server);
        }
        let _open = self.open.open(whose);
        match self.service.call_tool(request).await {
            Ok(result) => answer::output(result),
            Err(error) => Err(answer::failure(&self.server, &error)),
        }
    }

    /// True if it answers a ping in time.
    pub async fn ping(&self) -> bool {
        let ping = ClientRequest::PingRequest(PingRequest::default());
        matches!(timeout(PATIENCE, self.service.peer().send_request(ping)).await, Ok(Ok(_)))
    }

    /// True if the connection is alive and the server still lists its tools, if it has any.
    pub async fn answers(&self) -> bool {
        !self.lost.is_cancelled() && self.tools().await.is_ok()
    }

    pub async fn resources(&self) -> Result<Resources, RequestError> {
        let has =
            self.service.peer().peer_info().is_some_and(|it| it.capabilities.resources.is_some());
        if !has {
            return Ok(Resources::default());
        }
        let (all, _) = listed("its resources", |page| async move {
            let page = self.service.list_resources(Some(page)).await?;
            Ok((page.resources, page.next_cursor))
        })
        .await?;
        // Many servers with resources do not know this request.
        let templates = listed("its resource templates", |page| async move {
            let page = self.service.list_resource_templates(Some(page)).await?;
            Ok((page.resource_templates, page.next_cursor))
        })
        .await;
        Ok(Resources {
            listed: all.into_iter().map(|it| (it.name, it.uri)).collect(),
            templates: templates
                .unwrap_or_default()
                .0
                .into_iter()
                .map(|it| (it.name, it.uri_template))
                .collect(),
        })
    }

    pub async fn read(&self, uri: &str) -> Result<String, RequestError> {
        let request = ReadResourceRequestParams::new(uri);
        let what = format!("the resource '{uri}'");
        let read = within(&what, self.service.read_resource(request)).await?;
        let texts: Vec<String> = read
            .contents
            .into_iter()
            .filter_map(|contents| match contents {
                ResourceContents::TextResourceContents { text, .. } => Some(text),
                _ => None,
            })
            .collect();
        match texts.is_empty() {
            true => Err(RequestError::NoText { what }),
            false => Ok(texts.join("\n")),
        }
    }

    /// Subscribes to list changes; only servers without a handshake need it. Runs until the
    /// connection or the subscription ends. Cancel safe.
    pub async fn listen(&self, resources: bool) {
        if self.era() == Era::Handshake {
            std::future::pending::<()>().await;
        }
        let mut filter = SubscriptionFilter::builder().tools_list_changed();
        if resources {
            filter = filter.resources_list_changed();
        }
        let listening = timeout(PATIENCE, self.service.peer().listen(filter.build())).await;
        match listening {
            Ok(Ok(mut subscription)) => self.follow(&mut subscription).await,
            Ok(Err(error)) => {
                tracing::debug!(server = &*self.server, %error, "a server tells no changes");
            }
            Err(_) => tracing::debug!(server = &*self.server, "a server tells no changes in time"),
        }
    }

    async fn follow(&self, subscription: &mut Subscription) {
        while let Ok(Some(notice)) = subscription.next().await {
            match notice {
                ServerNotification::ToolListChangedNotification(_) => self.notices.tools_changed(),
                ServerNotification::ResourceListChangedNotification(_)
                | ServerNotification::ResourceUpdatedNotification(_) => {
                    self.notices.resources_changed();
                }
                _ => {}
            }
        }
    }

    /// Closes the connection, waiting at most [`CLOSING`].
    pub async fn close(&self) {
        self.service.cancellation_token().cancel();
        let closed = async {
            while !self.service.peer().is_transport_closed() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = timeout(CLOSING, closed).await;
    }
}

#[derive(Debug, Default)]
pub struct Resources {
    /// Names and URIs.
    pub listed: Vec<(String, String)>,
    /// Names and URI templates.
    pub templates: Vec<(String, String)>,
}

/// All pages of a list, under one deadline.
async fn listed<T: serde::Serialize, F>(
    what: &str,
    ask: impl Fn(PaginatedRequestParams) -> F,
) -> Result<(Vec<T>, usize), RequestError>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
{
    let mut listing = Listing::new();
    let until = tokio::time::Instant::now() + PATIENCE;
    loop {
        let page = PaginatedRequestParams::default().with_cursor(listing.cursor());
        let (entries, next) = timeout_at(until, ask(page))
            .await
            .map_err(|_| RequestError::Late { what: what.to_owned() })?
            .map_err(|error| failed(what, &error))?;
        let more = listing.take(entries, next);
        if !more.map_err(|error| RequestError::TooLong { what: what.to_owned(), error })? {
            return Ok(listing.whole());
        }
    }
}

fn failed(what: &str, error: &ServiceError) -> RequestError {
    RequestError::Failed { what: what.to_owned(), reason: answer::reason(error) }
}

/// Sends a request under [`PATIENCE`].
async fn within<T>(
    what: &str,
    request: impl Future<Output = Result<T, ServiceError>>,
) -> Result<T, RequestError> {
    match timeout(PATIENCE, request).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(failed(what, &error)),
        Err(_) => Err(RequestError::Late { what: what.to_owned() }),
    }
}

fn refusal(error: &ClientInitializeError) -> Refusal {
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return Refusal::Unauthorized;
    }
    match error {
        ClientInitializeError::TransportError { error, .. } => answer::transport(error).0,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => refusal(fallback),
        ClientInitializeError::ConnectionClosed(_) => Refusal::Gone,
        ClientInitializeError::JsonRpcError(error) => {
            Refusal::Other(format!("it refused the connection: {}", error.message))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let theirs: Vec<_> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            Refusal::Other(format!("it speaks only {} of the protocol", theirs.join(", ")))
        }
        other => Refusal::Other(format!("it does not speak the protocol: {other}")),
    }
}

#[cfg(test)]
mod tests;
