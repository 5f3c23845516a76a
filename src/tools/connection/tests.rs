//! A server's task that panics.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use super::{Auth, Reach, Reconnect, ServerOptions, Servers, Setup, State, Trust};
use crate::{domain::Owner, launch, tools::ToolHost};

/// An MCP server with one tool; it ends with the process.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(&stream));
        }
    });
    format!("http://{address}/mcp")
}

fn answer(stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).ok()?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, said) = match asked["method"].as_str() {
        None => (405, Value::Null),
        Some(method) if asked["id"].is_null() => (202, json!(method.len())),
        Some(method) => (200, reply(method, &asked["id"])),
    };
    let said = if status == 200 { said.to_string() } else { String::new() };
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{said}",
        said.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()
}

fn reply(method: &str, id: &Value) -> Value {
    let result = match method {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "home", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}),
        "ping" => json!({}),
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            return json!({"jsonrpc": "2.0", "id": id, "error": error});
        }
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Hears what is logged, and fails in the middle of it the first time a server is ready.
#[derive(Clone, Default)]
struct Fault {
    has_failed: Arc<AtomicBool>,
    again: Arc<Notify>,
    warnings: Arc<Mutex<String>>,
}

#[derive(Default)]
struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl Subscriber for Fault {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut words = Words::default();
        event.record(&mut words);
        if *event.metadata().level() == Level::WARN {
            self.warnings.lock().unwrap().push_str(&words.0);
        }
        if words.0.contains("message=server ready") {
            assert!(self.has_failed.swap(true, Ordering::Relaxed), "Anna's secret");
            self.again.notify_one();
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn options(url: String) -> ServerOptions {
    ServerOptions {
        name: "home".to_owned(),
        prefix: None,
        reach: Reach::Http { url, may_be_inside: true, headers: Vec::new(), auth: Auth::None },
        required: false,
        connect_timeout: Duration::from_secs(10),
        reconnect: Some(Reconnect::Growing(Duration::from_millis(20))),
        resources: false,
        resource_vars: BTreeMap::new(),
        tools: BTreeMap::new(),
        trust: Trust::Auto,
        allow_sampling: false,
        debug: false,
    }
}

#[tokio::test]
async fn panicking_server_task_is_logged_and_restarted() {
    let fault = Fault::default();
    let _heard = tracing::subscriber::set_default(fault.clone());
    let folder = tempfile::tempdir().unwrap();
    let host = ToolHost::new(StdRng::seed_from_u64(1));
    let servers = Servers::new(Setup {
        host: host.clone(),
        data_dir: folder.path().to_owned(),
        launcher: launch::SELF.into(),
        hidden: Vec::new(),
        environment: Vec::new(),
        facts: Arc::default(),
        seed: 1,
    });
    servers.set(vec![options(serve())]);
    let again = tokio::time::timeout(Duration::from_secs(20), fault.again.notified());
    again.await.expect("it starts again");
    assert!(matches!(servers.status(Owner::Local)[0].state, State::Ready));
    assert!(host.snapshot().find("home.look").is_some(), "and offers its tools again");
    let said = fault.warnings.lock().unwrap().clone();
    assert!(said.contains("message=server failed") && said.contains("src/tools/"), "{said}");
    assert!(!said.contains("Anna"), "{said}");
    servers.close().await;
}
