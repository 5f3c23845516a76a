use std::sync::Mutex;

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::json;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::*;
use crate::tools::{
    Attachment, CallErrorKind, Effects, Form,
    connection::{client_handler::Gate, stdio_transport::StdioTransport},
};

/// The other end of a connection, played by hand.
struct Server {
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Server {
    async fn hears(&mut self) -> Value {
        let line = self.read.next_line().await.expect("a line").expect("a message");
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
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(ours);
    let lost = CancellationToken::new();
    let lines = StdioTransport::new("s".into(), BufReader::new(read), write, lost.clone());
    let handler = ClientHandler {
        server: "s".into(),
        notices: Arc::default(),
        open: Arc::default(),
        traffic: Arc::default(),
        may_sample: false,
        debug: false,
        gate: Gate::new(),
    };
    let (read, write) = tokio::io::split(theirs);
    let mut server = Server { read: BufReader::new(read).lines(), write };
    let opened = tokio::spawn(Client::open(lines, handler, Some(Era::Handshake), lost));
    let id = server.asked("initialize").await;
    let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"}});
    server.says(json!({"id": id, "result": result})).await;
    server.asked("notifications/initialized").await;
    let client = opened.await.expect("it ran").unwrap_or_else(|why| panic!("{why:?}"));
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

    fn attach(&self, _: &str, _: &Attachment) {}

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        self.asked.lock().expect("unpoisoned").push(form);
        ready(Some(self.answer.clone())).boxed()
    }
}

fn call(
    client: &Arc<Client>,
    effects: Arc<dyn Effects>,
) -> tokio::task::JoinHandle<Result<CallOutput, CallError>> {
    let client = Arc::clone(client);
    tokio::spawn(async move { client.call("get", &Map::new(), Whose::table(effects)).await })
}

#[tokio::test]
async fn a_question_of_a_server_goes_to_the_table_that_called() {
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
        assert_eq!(called.await.expect("it ran"), Ok(CallOutput::text("done")));
        assert_eq!(table.asked.lock().expect("unpoisoned")[0].message, "Who?");
    }
}

#[tokio::test]
async fn a_server_gets_no_model() {
    let (_client, mut server) = connected().await;
    let message = json!({"role": "user", "content": {"type": "text", "text": "hi"}});
    let params = json!({"messages": [message], "maxTokens": 5});
    server.says(json!({"id": 1, "method": "sampling/createMessage", "params": params})).await;
    let answer = server.hears().await;
    let reason = answer["error"]["message"].as_str().expect("a reason");
    assert!(reason.starts_with("sampling is declined"), "{answer:#}");
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_over_the_wire() {
    let (client, mut server) = connected().await;
    let called = call(&client, Arc::new(Table::default()));
    let id = server.asked("tools/call").await;
    called.abort();
    let notice = server.hears().await;
    assert_eq!(notice["method"], "notifications/cancelled");
    assert_eq!(notice["params"]["requestId"], id);
}

#[tokio::test]
async fn a_server_that_ends_in_a_call_fails_it_and_is_lost() {
    let (client, mut server) = connected().await;
    let called = call(&client, Arc::new(Table::default()));
    server.asked("tools/call").await;
    drop(server);
    let error = called.await.expect("it ran").expect_err("no answer");
    assert_eq!((error.kind, error.message.as_str()), (CallErrorKind::Connection, "'s' has ended"));
    client.lost().cancelled().await;
}

#[tokio::test]
async fn notices_are_noticed_once() {
    let (client, mut server) = connected().await;
    for _ in 0..100 {
        server.says(json!({"method": "notifications/tools/list_changed"})).await;
    }
    client.notices().some().await;
    while client.notices().take() == (false, false) {
        tokio::task::yield_now().await;
    }
    assert!(!client.lost().is_cancelled());
}
