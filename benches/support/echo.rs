//! A server with one tool that gives its text back, and a bare `rmcp` client of it.

use std::{convert::Infallible, io, net::TcpListener, process::Stdio, sync::Arc};

use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, RoleServer, ServerHandler,
    ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    },
    service::{RequestContext, RunningService},
    transport::{
        IntoTransport, StreamableHttpClientTransport,
        streamable_http_client::StreamableHttpClientTransportConfig,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
        },
    },
};
use serde_json::{Map, Value, json};
use tokio::process::{Child, Command};

/// Argument that makes a bench the server.
pub const SERVE: &str = "serve-echo";
/// Text that is said and given back.
pub const TEXT: &str = "the door in the north is open";

/// The server.
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let Value::Object(schema) = json!({
            "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"],
        }) else {
            return Err(ErrorData::internal_error("no object", None));
        };
        let tool = Tool::new("echo", "Gives the text back.", schema);
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request.arguments.as_ref().and_then(|arguments| arguments.get("text")?.as_str());
        let text = text.unwrap_or_default().to_owned();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// Serves over this process's standard streams until they end.
pub async fn serve_stdio() {
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    let serving = Echo.serve(streams).await.expect("a client");
    serving.waiting().await.expect("it ends");
}

/// Serves over HTTP on a thread of its own for as long as this process runs; its address.
pub fn serve_http() -> String {
    let (listener, url) = bound();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(accept(listener))
    });
    url
}

/// A free port on loopback, and the address of a server there.
pub fn bound() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    listener.set_nonblocking(true).expect("a socket");
    (listener, url)
}

/// Serves all connections of `listener`.
pub async fn accept(listener: TcpListener) -> io::Result<Infallible> {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    let service =
        StreamableHttpService::new(|| Ok(Echo), Arc::new(NeverSessionManager::default()), config);
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
    }
}

/// A client without a host around it.
pub struct Bare {
    service: RunningService<RoleClient, ()>,
    _child: Option<Child>,
}

impl Bare {
    /// A server of its own as a child process.
    pub async fn over_stdio(command: &[String]) -> Self {
        let (program, arguments) = command.split_first().expect("a command");
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("it starts");
        let streams = (child.stdout.take().expect("piped"), child.stdin.take().expect("piped"));
        Self { _child: Some(child), ..Self::over(streams).await }
    }

    /// The server at `url`, with connections as `rmcp` keeps them by itself.
    pub async fn over_http(url: &str) -> Self {
        Self::over(StreamableHttpClientTransport::from_uri(url)).await
    }

    /// Like [`Self::over_http`], with a token.
    pub async fn with_token(url: &str, token: &str) -> Self {
        let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(token);
        Self::over(StreamableHttpClientTransport::from_config(config)).await
    }

    /// Speaks what the host speaks.
    async fn over<T, E, A>(transport: T) -> Self
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let mode = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        let service = ().serve_with_lifecycle(transport, mode).await.expect("it connects");
        Self { service, _child: None }
    }

    /// One call.
    pub async fn call(&self) {
        let arguments: Map<String, Value> =
            [("text".to_owned(), TEXT.into())].into_iter().collect();
        self.call_tool("echo", arguments).await;
    }

    /// One call of any tool.
    pub async fn call_tool(&self, name: &'static str, arguments: Map<String, Value>) {
        let request = CallToolRequestParams::new(name).with_arguments(arguments);
        let result = self.service.call_tool(request).await.expect("it answers");
        assert!(!result.content.is_empty() && result.is_error != Some(true), "{result:?}");
    }
}
