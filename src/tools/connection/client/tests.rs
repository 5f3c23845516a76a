use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::json;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::*;
use crate::{
    domain::{CampaignKey, Owner, Scope, SessionId},
    tools::{
        Attachment, CallErrorKind, Effects, Form, NotSampled, Progress, SampleRequest, Sampled,
        Sampler,
        connection::{client_handler::Gate, stdio_transport::StdioTransport},
    },
    traces::{Operation, Traces},
};

/// Longest wait of these tests.
const BOUND: Duration = Duration::from_secs(60);

/// Waits for something; fails after [`BOUND`].
async fn soon<T>(awaited: impl Future<Output = T>) -> T {
    timeout(BOUND, awaited).await.expect("in time")
}

/// The other end of a connection, played by hand.
struct Server {
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Server {
    async fn hears(&mut self) -> Value {
        let line = soon(self.read.next_line()).await.expect("a line").expect("a message");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn says(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.expect("somebody listens");
    }

    /// Hears a request of this method; its id.
    async fn asked(&mut self, method: &str) -> Value {
        let message = self.hears().await;
        assert_eq!(message["method"], method, "{message:#}");
        message["id"].clone()
    }
}

async fn connected() -> (Arc<Client>, Server) {
    connected_to(false).await
}

async fn connected_to(may_sample: bool) -> (Arc<Client>, Server) {
    connected_by("2025-11-25", may_sample).await
}

/// A connection to a server that answers the handshake with `revision`.
async fn connected_by(revision: &str, may_sample: bool) -> (Arc<Client>, Server) {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(ours);
    let lost = CancellationToken::new();
    let lines = StdioTransport::new("s".into(), BufReader::new(read), write, lost.clone());
    let handler = ClientHandler {
        server: "s".into(),
        notices: Arc::default(),
        open: Arc::default(),
        traffic: Arc::default(),
        may_sample,
        debug: false,
        gate: Gate::new(),
    };
    let (read, write) = tokio::io::split(theirs);
    let mut server = Server { read: BufReader::new(read).lines(), write };
    let opened = tokio::spawn(Client::open(lines, handler, Some(Era::Handshake), lost));
    let id = server.asked("initialize").await;
    let result = json!({"protocolVersion": revision, "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"}});
    server.says(json!({"id": id, "result": result})).await;
    server.asked("notifications/initialized").await;
    let client = soon(opened).await.expect("it ran").unwrap_or_else(|why| panic!("{why:?}"));
    (Arc::new(client), server)
}

/// A table whose game master answers forms.
#[derive(Default)]
struct Table {
    answer: Map<String, Value>,
    asked: Mutex<Vec<Form>>,
}

impl Effects for Table {
    fn show(&self, _: &str) {}

    fn attach(&self, _: &str, _: &Attachment) -> bool {
        true
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        self.asked.lock().expect("unpoisoned").push(form);
        ready(Some(self.answer.clone())).boxed()
    }
}

type Called = tokio::task::JoinHandle<Result<CallOutput, CallError>>;

fn call(client: &Arc<Client>, effects: Arc<dyn Effects>) -> Called {
    call_of(client, Whose::table(effects))
}

fn call_of(client: &Arc<Client>, whose: Whose) -> Called {
    let client = Arc::clone(client);
    tokio::spawn(async move { client.call("get", &Map::new(), whose, &Span::default()).await })
}

/// Lends a model, and counts how often.
#[derive(Default)]
struct Lender(AtomicUsize);

impl Sampler for Lender {
    fn sample(&self, _: SampleRequest) -> BoxFuture<'static, Result<Sampled, NotSampled>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        ready(Ok(Sampled { text: "hm".to_owned(), model: "m".to_owned() })).boxed()
    }
}

#[tokio::test]
async fn revision_is_what_the_server_agreed_to() {
    for revision in ["2025-11-25", "2025-06-18", "2024-11-05"] {
        let (client, _server) = connected_by(revision, false).await;
        assert_eq!((client.revision().as_str(), client.era()), (revision, Era::Handshake));
    }
}

#[tokio::test]
async fn server_requests_need_one_calling_table() {
    let (client, mut server) = connected_to(true).await;
    let (table, lender) = (Arc::new(Table::default()), Arc::new(Lender::default()));
    let of = |guild| Whose {
        scope: Some(Scope { owner: Owner::Guild(guild), campaign: CampaignKey("c".to_owned()) }),
        session: Some(SessionId("evening".to_owned())),
        effects: Arc::clone(&table) as _,
        sampler: Some(Arc::clone(&lender) as _),
        progress: Progress::default(),
    };
    let form = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
    let message = json!({"role": "user", "content": {"type": "text", "text": "hi"}});
    let sample = json!({"messages": [message], "maxTokens": 5});
    // Two guilds; two NPCs of one; two tables of which nothing is known.
    for (others, is_clear) in [(of(2), false), (of(1), true), (Whose::table(table.clone()), false)]
    {
        let asked = || table.asked.lock().expect("unpoisoned").len();
        let before = (asked(), lender.0.load(Ordering::Relaxed));
        let mut calls = Vec::new();
        for whose in [of(1), others] {
            calls.push((call_of(&client, whose), server.asked("tools/call").await));
        }
        server.says(json!({"id": "q", "method": "elicitation/create", "params": form})).await;
        let action = server.hears().await["result"]["action"].clone();
        assert_eq!(action, if is_clear { "accept" } else { "decline" });
        server.says(json!({"id": "s", "method": "sampling/createMessage", "params": sample})).await;
        let answer = server.hears().await;
        match is_clear {
            true => assert_eq!(answer["result"]["model"], "m", "{answer:#}"),
            false => {
                let reason = answer["error"]["message"].as_str().expect("a reason");
                assert!(reason.contains("several tables"), "{answer:#}");
            }
        }
        let more = usize::from(is_clear);
        assert_eq!((asked(), lender.0.load(Ordering::Relaxed)), (before.0 + more, before.1 + more));
        for (called, id) in calls {
            server.says(json!({"id": id, "result": {"content": []}})).await;
            soon(called).await.expect("it ran").expect("an answer");
        }
    }
}

#[tokio::test]
async fn elicitation_goes_to_calling_table() {
    let (client, mut server) = connected().await;
    let ask = |id: &str| {
        json!({"id": id, "method": "elicitation/create", "params": {"message": "Who?",
            "requestedSchema": {"type": "object", "required": ["age"], "properties": {
                "age": {"type": "integer"}, "name": {"type": "string", "default": "Bart"}}}}})
    };
    server.says(ask("early")).await;
    let early = server.hears().await;
    assert_eq!(early["result"]["action"], "decline", "nobody has called: {early:#}");
    for (age, action) in [("7", "accept"), ("old", "decline")] {
        let answer = Map::from_iter([("age".to_owned(), json!(age))]);
        let table = Arc::new(Table { answer, ..Table::default() });
        let called = call(&client, Arc::clone(&table) as _);
        let id = server.asked("tools/call").await;
        server.says(ask("q")).await;
        let answer = server.hears().await;
        assert_eq!((&answer["id"], &answer["result"]["action"]), (&json!("q"), &json!(action)));
        if action == "accept" {
            assert_eq!(answer["result"]["content"], json!({"age": 7, "name": "Bart"}));
        }
        let content = json!([{"type": "text", "text": "done"}]);
        server.says(json!({"id": id, "result": {"content": content}})).await;
        assert_eq!(soon(called).await.expect("it ran"), Ok(CallOutput::text("done")));
        assert_eq!(table.asked.lock().expect("unpoisoned")[0].message, "Who?");
    }
}

#[tokio::test]
async fn call_names_its_span_to_the_server() {
    let (client, mut server) = connected().await;
    let (traces, _queue) = Traces::open(false, || std::time::UNIX_EPOCH);
    let span = traces.begin("evening").begin(Operation::ExecuteTool, || "s.get".to_owned());
    let parent = span.traceparent().expect("it is traced");
    let whose = Whose::table(Arc::new(Table::default()));
    let called =
        tokio::spawn(async move { client.call("get", &Map::new(), whose, &span).await.is_ok() });
    let request = server.hears().await;
    assert_eq!(request["params"]["_meta"]["traceparent"], json!(parent), "{request:#}");
    server.says(json!({"id": request["id"], "result": {"content": []}})).await;
    assert!(soon(called).await.expect("it ran"));
}

#[tokio::test]
async fn server_gets_no_model() {
    let (_client, mut server) = connected().await;
    let message = json!({"role": "user", "content": {"type": "text", "text": "hi"}});
    let params = json!({"messages": [message], "maxTokens": 5});
    server.says(json!({"id": 1, "method": "sampling/createMessage", "params": params})).await;
    let answer = server.hears().await;
    let reason = answer["error"]["message"].as_str().expect("a reason");
    assert!(reason.starts_with("sampling is declined"), "{answer:#}");
}

#[tokio::test]
async fn dropped_calls_send_cancelled_notification() {
    let (client, mut server) = connected().await;
    let called = call(&client, Arc::new(Table::default()));
    let id = server.asked("tools/call").await;
    called.abort();
    let notice = server.hears().await;
    assert_eq!(notice["method"], "notifications/cancelled");
    assert_eq!(notice["params"]["requestId"], id);
}

#[tokio::test]
async fn server_exit_fails_running_calls() {
    let (client, mut server) = connected().await;
    let called = call(&client, Arc::new(Table::default()));
    server.asked("tools/call").await;
    drop(server);
    let error = soon(called).await.expect("it ran").expect_err("no answer");
    assert_eq!((error.kind, error.message.as_str()), (CallErrorKind::Connection, "'s' has ended"));
    soon(client.lost().cancelled()).await;
}

#[tokio::test]
async fn notices_are_noticed_once() {
    let (client, mut server) = connected().await;
    for _ in 0..100 {
        server.says(json!({"method": "notifications/tools/list_changed"})).await;
    }
    let noticed = async {
        client.notices().some().await;
        while client.notices().take() == (false, false) {
            tokio::task::yield_now().await;
        }
    };
    soon(noticed).await;
    assert!(!client.lost().is_cancelled());
}
