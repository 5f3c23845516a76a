use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::{BoxFuture, FutureExt};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::json;

use super::*;
use crate::{
    domain::{CallId, ToolCall},
    tools::{
        CallError, CallErrorKind, CallOutput, Declared, Definition, Handler, SourceKind,
        latency::Ending,
    },
};

const MS: Duration = Duration::from_millis(1);

/// Counts its calls and answers after a while.
#[derive(Default)]
struct Counting {
    calls: AtomicUsize,
    under_way: AtomicUsize,
    most: AtomicUsize,
    takes: Duration,
    fails: bool,
    structured: Option<Value>,
}

impl Counting {
    fn taking(takes: Duration) -> Arc<Self> {
        Arc::new(Self { takes, ..Self::default() })
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl Handler for Counting {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            sleep(self.takes).await;
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            context.effects.show("nobody sees this");
            if self.fails {
                return Err(CallError::new(CallErrorKind::Connection, "the server is away"));
            }
            let told = CallOutput::json(json!({"arguments": arguments}));
            Ok(self.structured.clone().map_or(told, CallOutput::json))
        }
        .boxed()
    }
}

fn host() -> ToolHost {
    ToolHost::new(StdRng::seed_from_u64(1))
}

fn tool(name: &str, declared: Declared, handler: &Arc<Counting>) -> Definition {
    Definition {
        name: name.to_owned(),
        description: "A tool.".to_owned(),
        input: json!({"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}}),
        output: None,
        declared,
        handler: Arc::clone(handler) as Arc<dyn Handler>,
    }
}

fn reading() -> Declared {
    Declared { read_only: Some(true), ..Declared::default() }
}

fn probe(value: Value) -> Option<Map<String, Value>> {
    value.as_object().cloned()
}

/// Offers one tool and measures it.
async fn measured(declared: Declared, handler: &Arc<Counting>) -> Calibrated {
    let host = host();
    assert_eq!(host.offer("s", SourceKind::Server, vec![tool("t", declared, handler)]), []);
    host.calibrate(|_| true).await.remove(0)
}

#[tokio::test(start_paused = true)]
async fn nothing_with_side_effects_is_ever_run() {
    let forbidden = [
        Declared::default(),
        Declared { destructive: Some(true), ..reading() },
        Declared { destructive: Some(true), idempotent: Some(true), ..Declared::default() },
        Declared { read_only: Some(false), idempotent: Some(true), ..Declared::default() },
        Declared { read_only: Some(false), ..Declared::default() },
        Declared { idempotent: Some(false), ..Declared::default() },
        Declared { approval: Some(true), ..reading() },
    ];
    for declared in forbidden {
        let handler = Counting::taking(MS);
        let told = measured(declared.clone(), &handler).await;
        assert_eq!(handler.calls(), 0, "{declared:?}");
        assert!(matches!(told.found, CalibrationOutcome::Skipped(_)), "{told:?}");
        assert_eq!((told.calls, told.arguments), (0, None));
    }
    let harmless = [reading(), Declared { idempotent: Some(true), ..Declared::default() }];
    for declared in harmless {
        let handler = Counting::taking(MS);
        let told = measured(declared, &handler).await;
        assert_eq!((handler.calls(), told.calls), (5, 5));
        assert_eq!(told.arguments, Some(json!({"q": "test"})));
    }
}

#[tokio::test(start_paused = true)]
async fn probe_allows_what_it_says_and_wins() {
    let probe = probe(json!({"q": "from the config", "token": "t0ps3cret"}));
    for declared in [
        Declared { probe: probe.clone(), destructive: Some(true), ..Declared::default() },
        Declared { probe, ..reading() },
    ] {
        let handler = Counting::taking(MS);
        let told = measured(declared, &handler).await;
        assert_eq!(handler.calls(), 5);
        assert_eq!(told.arguments, Some(json!({"q": "from the config", "token": "<secret>"})));
    }
}

#[tokio::test(start_paused = true)]
async fn probe_that_does_not_fit_is_not_sent() {
    let handler = Counting::taking(MS);
    let declared = Declared { probe: probe(json!({"q": [1]})), ..reading() };
    let told = measured(declared, &handler).await;
    assert_eq!(handler.calls(), 0);
    assert!(
        matches!(&told.found, CalibrationOutcome::Skipped(why) if why.contains("probe does not fit"))
    );
}

#[tokio::test(start_paused = true)]
async fn measured_latency_overrides_estimated_tier() {
    let handler = Counting::taking(700 * MS);
    let estimated = Some(5 * MS);
    let told = measured(Declared { estimated, ..reading() }, &handler).await;
    let figures = Probed { calls: 5, p50: 700 * MS, p95: 700 * MS, p99: 700 * MS };
    assert_eq!(told.found, CalibrationOutcome::Measured(figures));
    assert_eq!((told.before, told.after), (Some(Tier::Fast), Some(Tier::Standard)));
}

#[tokio::test(start_paused = true)]
async fn slow_tools_get_fewer_calibration_calls() {
    let handler = Counting::taking(8_000 * MS);
    let declared = Declared { follow_up: Some(true), max: Some(15_000 * MS), ..reading() };
    let told = measured(declared, &handler).await;
    assert!(
        matches!(told.found, CalibrationOutcome::Measured(Probed { calls: 2, .. })),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn failed_probes_are_reported_without_latency() {
    let handler = Arc::new(Counting { fails: true, ..Counting::default() });
    let host = host();
    host.offer("s", SourceKind::Server, vec![tool("t", reading(), &handler)]);
    let told = host.calibrate(|_| true).await.remove(0);
    assert_eq!(told.found, CalibrationOutcome::Failed("connection: the server is away".to_owned()));
    // Nor are they repeated, or held against it.
    assert_eq!((handler.calls(), told.calls), (1, 1));
    let standing = host.snapshot().all()[0].tool.latency.standing(Instant::now());
    assert_eq!(standing, crate::tools::LatencySummary::default());

    let slow = Counting::taking(9_000 * MS);
    let told = measured(Declared { max: Some(300 * MS), ..reading() }, &slow).await;
    assert_eq!(told.found, CalibrationOutcome::Failed("timed out after 300 ms".to_owned()));
    assert_eq!(slow.calls(), 1);

    let wrong = Arc::new(Counting { structured: Some(json!({"n": []})), ..Counting::default() });
    let output = Some(json!({"type": "object", "properties": {"n": {"type": "number"}}}));
    let host = self::host();
    host.offer(
        "s",
        SourceKind::Server,
        vec![Definition { output, ..tool("t", reading(), &wrong) }],
    );
    let told = host.calibrate(|_| true).await.remove(0);
    assert!(
        matches!(&told.found, CalibrationOutcome::Failed(why) if why.contains("output schema"))
    );
}

#[tokio::test(start_paused = true)]
async fn calibration_is_parallel_across_servers_only() {
    let host = host();
    let servers = [Counting::taking(100 * MS), Counting::taking(100 * MS)];
    for (name, handler) in ["a", "b"].into_iter().zip(&servers) {
        let tools = ["x", "y"].map(|tool_name| tool(tool_name, reading(), handler));
        host.offer(name, SourceKind::Server, tools.to_vec());
    }
    let begun = Instant::now();
    let told = host.calibrate(|_| true).await;
    assert_eq!(begun.elapsed(), 1_000 * MS);
    let order: Vec<&str> = told.iter().map(|it| &*it.tool).collect();
    assert_eq!(order, ["a.x", "a.y", "b.x", "b.y"]);
    for server in servers {
        assert_eq!((server.calls(), server.most.load(Ordering::SeqCst)), (10, 1));
    }
}

/// A call of a turn, by the operator's hand.
fn operator() -> (CallContext, ToolCall) {
    let context = CallContext {
        scope: crate::domain::Scope::local(crate::domain::CampaignKey("c".to_owned())),
        session: SessionId("s".to_owned()),
        turn: TurnId(1),
        authority: Authority::Operator,
        speaker: Arc::from("Anna"),
        by: None,
        deadline: Instant::now() + Duration::from_secs(60),
        fresh: false,
        taint: Taint::default(),
        progress: Progress::default(),
        span: Default::default(),
        cancel: tokio_util::sync::CancellationToken::new(),
        effects: Arc::new(Unseen),
    };
    let call = ToolCall {
        id: CallId("1".to_owned()),
        name: "s.slow".to_owned(),
        arguments: "{\"q\": \"x\"}".to_owned(),
        extra: Map::new(),
    };
    (context, call)
}

#[tokio::test(start_paused = true)]
async fn turns_go_first() {
    let host = host();
    let (slow, quick) = (Counting::taking(2_000 * MS), Counting::taking(10 * MS));
    let tools = vec![tool("slow", Declared::default(), &slow), tool("quick", reading(), &quick)];
    host.offer("s", SourceKind::Server, tools);
    let (context, call) = operator();
    let begun = Instant::now();
    let turn = async {
        let record = host.execute(&context, &call).await;
        assert!(record.result.is_ok());
        assert_eq!((begun.elapsed(), quick.calls()), (2_000 * MS, 0));
    };
    let ((), told) = tokio::join!(turn, host.calibrate(|_| true));
    assert_eq!(quick.calls(), 5);
    assert!(matches!(told[0].found, CalibrationOutcome::Measured(_)), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn probe_brings_a_withheld_tool_back() {
    let host = host();
    let handler = Counting::taking(10 * MS);
    let declared = Declared { floor: Some(Tier::Deep), ..reading() };
    host.offer("s", SourceKind::Server, vec![tool("t", declared, &handler)]);
    let latency = Arc::clone(&host.snapshot().all()[0].tool.latency);
    for _ in 0..6 {
        latency.record(Instant::now(), MS, Ending::Failed);
    }
    host.catalog().refresh(Instant::now());
    assert_eq!(host.snapshot().all()[0].tier, None);
    let told = host.calibrate_new(&ServerKey::installed("s")).await.remove(0);
    assert_eq!((told.before, told.after), (None, Some(Tier::Deep)));
    assert_eq!(host.snapshot().all()[0].tier, Some(Tier::Deep));
}

#[tokio::test(start_paused = true)]
async fn at_connect_only_what_is_new_is_measured() {
    let host = host();
    let (old, new) = (Counting::taking(MS), Counting::taking(MS));
    host.offer("s", SourceKind::Server, vec![tool("old", reading(), &old)]);
    host.offer("other", SourceKind::Server, vec![tool("t", reading(), &new)]);
    assert_eq!(host.calibrate_new(&ServerKey::installed("s")).await.len(), 1);
    host.offer(
        "s",
        SourceKind::Server,
        vec![tool("old", reading(), &old), tool("new", reading(), &new)],
    );
    let told = host.calibrate_new(&ServerKey::installed("s")).await;
    assert_eq!(told.iter().map(|it| &*it.tool).collect::<Vec<_>>(), ["s.new"]);
    assert_eq!((old.calls(), new.calls()), (5, 5));
}

#[tokio::test(start_paused = true)]
async fn end_of_the_program_ends_it() {
    let host = host();
    let handler = Counting::taking(1_000 * MS);
    host.offer("s", SourceKind::Server, vec![tool("t", reading(), &handler)]);
    let close = async {
        sleep(100 * MS).await;
        host.close().await;
    };
    let (told, ()) = tokio::join!(host.calibrate(|_| true), close);
    assert_eq!(told[0].found, CalibrationOutcome::Failed("the program ends".to_owned()));
    assert_eq!(handler.calls(), 1);
}
