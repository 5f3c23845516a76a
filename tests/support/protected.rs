//! A loopback MCP server that wants a token, and the authorization server that gives it out.
//!
//! Entry type: [`Protected`]. Refuses what a real one refuses: unknown redirects, a wrong PKCE
//! verifier, a code or refresh token used twice, a missing resource. No person has to log in.
//! **Never**: takes a token it has not given out, or has taken back.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use reqwest::Url;
use serde_json::{Value, json};

/// Long enough for callers at the same time to meet.
const TOKEN_TAKES: Duration = Duration::from_millis(50);
/// The secret of the client `program`.
pub const SECRET: &str = "open sesame";

/// The running servers; their threads end with the process.
pub struct Protected {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

/// State of the servers.
#[derive(Default)]
pub struct State {
    /// Redirects of clients that have registered.
    clients: BTreeMap<String, String>,
    /// Codes not used yet: challenge, redirect, scope.
    codes: BTreeMap<String, (String, String, String)>,
    /// Access tokens that are taken, with their scopes.
    pub access: BTreeMap<String, String>,
    /// Refresh tokens that are taken, with their scopes.
    pub refresh: BTreeMap<String, String>,
    /// Seconds access tokens are said to live.
    pub life: u64,
    /// Number of times each thing was done: "register", "authorize", "code", "refresh", "mint".
    pub done: BTreeMap<&'static str, usize>,
    /// Refused requests, with the reasons.
    pub refused: Vec<String>,
    /// Part of the issuer's address.
    pub issuer: &'static str,
    serial: usize,
}

/// A request as it came.
struct Request {
    method: String,
    url: Url,
    bearer: Option<String>,
    body: Vec<u8>,
}

/// Status, headers, body.
type Answer = (u16, Vec<(&'static str, String)>, Value);

impl Protected {
    /// Starts them on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { life: 3_600, ..State::default() }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, address, &state));
            }
        });
        Self { address, state }
    }

    /// Address of the MCP server.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The authorization server's name for itself.
    pub fn issuer(&self) -> String {
        format!("http://{}{}", self.address, self.state().issuer)
    }

    /// State of the servers.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Number of times `what` was done.
    pub fn done(&self, what: &str) -> usize {
        self.state().done.get(what).copied().unwrap_or_default()
    }
}

#[expect(clippy::disallowed_methods, reason = "a token endpoint that takes its time")]
fn serve(stream: TcpStream, address: SocketAddr, state: &Mutex<State>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut parts = line.split(' ');
    let method = parts.next()?.to_owned();
    let base = Url::parse(&format!("http://{address}")).ok()?;
    let url = base.join(parts.next()?).ok()?;
    let (mut bearer, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "authorization" => bearer = value.trim().strip_prefix("Bearer ").map(str::to_owned),
            "content-length" => length = value.trim().parse().ok()?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request = Request { method, url, bearer, body };
    if request.url.path() == "/token" {
        std::thread::sleep(TOKEN_TAKES);
    }
    let (status, headers, body) = answer(&request, &base, &mut state.lock().unwrap());
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    (&stream).write_all(format!("{head}\r\n{body}").as_bytes()).ok()
}

fn answer(request: &Request, base: &Url, state: &mut State) -> Answer {
    let origin = base.as_str().trim_end_matches('/');
    let issuer = format!("{origin}{}", state.issuer);
    let plain = |value| (200, Vec::new(), value);
    match (&*request.method, request.url.path()) {
        ("POST", "/mcp") => mcp(request, origin, state),
        ("GET", "/.well-known/oauth-protected-resource/mcp") => plain(json!({
            "resource": format!("{origin}/mcp"), "authorization_servers": [issuer],
        })),
        ("GET", path)
            if path == format!("/.well-known/oauth-authorization-server{}", state.issuer) =>
        {
            plain(json!({
                "issuer": issuer,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
                "authorization_response_iss_parameter_supported": true,
            }))
        }
        ("POST", "/register") => register(request, state),
        ("GET", "/authorize") => authorize(request, &issuer, state),
        ("POST", "/token") => match token(request, state) {
            Ok(answer) => (200, Vec::new(), answer),
            Err(why) => {
                state.refused.push(format!("token: {why}"));
                (400, Vec::new(), json!({"error": "invalid_grant", "error_description": why}))
            }
        },
        _ => (404, Vec::new(), Value::Null),
    }
}

/// The MCP server, of the revision with a handshake.
fn mcp(request: &Request, origin: &str, state: &mut State) -> Answer {
    let metadata = format!("{origin}/.well-known/oauth-protected-resource/mcp");
    let scope = request.bearer.as_ref().and_then(|bearer| state.access.get(bearer)).cloned();
    let Some(scope) = scope else {
        state.refused.push("mcp: no token".to_owned());
        let said = format!("Bearer resource_metadata=\"{metadata}\", scope=\"play\"");
        return (401, vec![("WWW-Authenticate", said)], Value::Null);
    };
    let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let tool = asked.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
    if tool == "whisper" && !scope.split(' ').any(|scope| scope == "whisper") {
        let said = format!(
            "Bearer error=\"insufficient_scope\", scope=\"whisper\", resource_metadata=\"{metadata}\""
        );
        return (403, vec![("WWW-Authenticate", said)], Value::Null);
    }
    let Some(id) = asked.get("id") else { return (202, Vec::new(), Value::Null) };
    let result = match asked.get("method").and_then(Value::as_str).unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "protected", "version": "1"},
        }),
        "tools/list" => {
            let tools = ["play", "whisper"].map(|name| {
                let hints = json!({"readOnlyHint": true});
                json!({"name": name, "inputSchema": {"type": "object"}, "annotations": hints})
            });
            json!({ "tools": tools })
        }
        "tools/call" => json!({"content": [{"type": "text", "text": format!("{tool}ed")}]}),
        "ping" => json!({}),
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return (200, Vec::new(), json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    (200, Vec::new(), json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn register(request: &Request, state: &mut State) -> Answer {
    let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let redirect = asked.pointer("/redirect_uris/0").and_then(Value::as_str).unwrap_or_default();
    if !redirect.starts_with("http://127.0.0.1:") {
        return (400, Vec::new(), json!({"error": "invalid_redirect_uri"}));
    }
    let id = state.next("client");
    state.clients.insert(id.clone(), redirect.to_owned());
    state.count("register");
    (201, Vec::new(), json!({"client_id": id, "redirect_uris": [redirect]}))
}

fn authorize(request: &Request, issuer: &str, state: &mut State) -> Answer {
    let query: BTreeMap<_, _> = request.url.query_pairs().into_owned().collect();
    let get = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
    let redirect = get("redirect_uri").to_owned();
    let is_right = state.clients.get(get("client_id")) == Some(&redirect)
        && get("response_type") == "code"
        && get("code_challenge_method") == "S256"
        && !get("state").is_empty()
        && get("resource") == request.url.join("/mcp").unwrap().as_str();
    if !is_right {
        state.refused.push(format!("authorize: {query:?}"));
        return (400, Vec::new(), json!({"error": "invalid_request"}));
    }
    let code = state.next("code");
    let grant = (get("code_challenge").to_owned(), redirect.clone(), get("scope").to_owned());
    state.codes.insert(code.clone(), grant);
    state.count("authorize");
    let back = [("code", code.as_str()), ("state", get("state")), ("iss", issuer)];
    let back = Url::parse_with_params(&redirect, back).unwrap();
    (302, vec![("Location", back.into())], Value::Null)
}

fn token(request: &Request, state: &mut State) -> Result<Value, &'static str> {
    let form = Url::parse(&format!("http://f/?{}", String::from_utf8_lossy(&request.body)));
    let form: BTreeMap<_, _> = form.unwrap().query_pairs().into_owned().collect();
    let get = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    if get("resource") != request.url.join("/mcp").unwrap().as_str() {
        return Err("no resource");
    }
    let scope = match get("grant_type") {
        "authorization_code" => {
            let (challenge, redirect, scope) =
                state.codes.remove(get("code")).ok_or("no such code")?;
            if hashed(get("code_verifier")) != challenge || get("redirect_uri") != redirect {
                return Err("wrong verifier or redirect");
            }
            state.count("code");
            scope
        }
        "refresh_token" => {
            state.count("refresh");
            state.refresh.remove(get("refresh_token")).ok_or("no such refresh token")?
        }
        "client_credentials" => {
            if get("client_id") != "program" || get("client_secret") != SECRET {
                return Err("wrong secret");
            }
            state.count("mint");
            let access = state.next("access");
            state.access.insert(access.clone(), get("scope").to_owned());
            let life = state.life;
            return Ok(json!({"access_token": access, "token_type": "Bearer", "expires_in": life}));
        }
        _ => return Err("unknown grant"),
    };
    let (access, refresh) = (state.next("access"), state.next("refresh"));
    state.access.insert(access.clone(), scope.clone());
    state.refresh.insert(refresh.clone(), scope.clone());
    Ok(json!({
        "access_token": access, "token_type": "Bearer", "expires_in": state.life,
        "refresh_token": refresh, "scope": scope,
    }))
}

/// SHA-256 as PKCE writes it.
fn hashed(verifier: &str) -> String {
    let provider = rustls::crypto::ring::default_provider();
    let suites = provider.cipher_suites.iter().filter_map(|suite| suite.tls13());
    let mut hashes = suites.map(|suite| suite.common.hash_provider.hash(verifier.as_bytes()));
    let sha256 = hashes.find(|hash| hash.as_ref().len() == 32).unwrap();
    URL_SAFE_NO_PAD.encode(sha256.as_ref())
}

impl State {
    fn next(&mut self, kind: &str) -> String {
        self.serial += 1;
        format!("{kind}-{}", self.serial)
    }

    fn count(&mut self, what: &'static str) {
        *self.done.entry(what).or_default() += 1;
    }
}
