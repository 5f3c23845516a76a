//! The tool host: one built-in call with validation, policy and log; and whether two rounds of
//! calls keep the tier's ceiling. One JSON line per case, then one that says which goals hold.
//!
//! `built_in` rolls 2d6+3 through the host. `ceiling` runs turns at the fast tier through whole
//! tables, each with two rounds of a tool of random latency; beside it the lateness of the bare
//! runtime's timer over the same 500 ms. `--quick` runs less of each.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of failing turns is none")]

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{
    FutureExt,
    future::{BoxFuture, join_all},
};
use glyphoxa::measure::{
    Authority, CallContext, CallError, CallId, CallOutput, Caller, Command, Declared, Definition,
    Dice, Handler, Materials, Progress, RuleBook, SessionId, TableEvent, Taint, Tier, ToolCall,
    ToolHost, TurnId, offer_built_ins,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Map, Value, json};
use support::{
    figures::{Figures, TOKEN, ms, rounded, runtime},
    stand_ins::{Model, Nothing, Recogniser, Stopwatch, Synthesiser},
    table::{PLAYER, Services, nothing, npc, open_table},
};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Tables that talk at once.
const TABLES: usize = 10;
/// Longest wait for a call of a built-in, and for a turn.
const PATIENCE: Duration = Duration::from_secs(60);
/// The fast tier's ceiling, in ms.
const CEILING: f64 = 500.0;
/// Longest latency of the random tool, in ms.
const LONGEST: u64 = 450;

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let runtime = runtime();
    let calls = runtime.block_on(built_in(if quick { 500 } else { 50_000 }));
    let line = json!({
        "case": "built_in", "n": calls.n(),
        "p50_us": rounded(calls.at(50) * 1e3), "p99_us": rounded(calls.at(99) * 1e3),
    });
    println!("{line}");
    let per_table = if quick { 2 } else { 20 };
    let seeds = 0..u64::try_from(TABLES).expect("a few");
    let rooms = join_all(seeds.map(|seed| ceiling(seed, per_table)));
    let lateness = join_all((0..TABLES * per_table).map(|_| timer()));
    let (over, lateness) = runtime.block_on(async { (rooms.await, lateness.await) });
    let (over, lateness) = (Figures::new(over.concat()), Figures::new(lateness));
    println!(
        "{}",
        json!({
            "case": "ceiling", "n": over.n(),
            "over_p50_ms": rounded(over.at(50)), "over_p99_ms": rounded(over.at(99)),
            "timer_lateness_p50_ms": rounded(lateness.at(50)),
            "timer_lateness_p99_ms": rounded(lateness.at(99)),
        })
    );
    println!(
        "{}",
        json!({ "goals": [
            { "goal": "built-in call, p50 <= 20 us", "reached": calls.at(50) * 1e3 <= 20.0 },
            { "goal": "two rounds within the ceiling, p99 <= 20 ms over",
              "reached": over.at(99) <= 20.0 },
        ] })
    );
}

/// Calls of a built-in through the host, in ms.
async fn built_in(n: usize) -> Figures {
    let host = ToolHost::new(StdRng::seed_from_u64(1));
    let mut bartok = npc();
    bartok.tools = vec!["dice-roller.*".to_owned()];
    let bartok = Arc::new(bartok);
    host.catalog().set_cast(&[Arc::clone(&bartok)]);
    let materials = Materials {
        dice: Dice::new(StdRng::seed_from_u64(1)),
        tables: Vec::new(),
        rules: Arc::new(RuleBook::new(Vec::new(), None, Vec::new)),
        files: None,
        memory: None,
        music: None,
        images: None,
        search: None,
    };
    offer_built_ins(&host, materials);
    let call = ToolCall {
        id: CallId("call".to_owned()),
        name: "roll".to_owned(),
        arguments: r#"{"expression": "2d6+3"}"#.to_owned(),
        extra: Map::new(),
    };
    let mut times = Vec::with_capacity(n);
    for _ in 0..n {
        let started = std::time::Instant::now();
        let context = CallContext {
            scope: host.scope().clone(),
            session: SessionId("bench".to_owned()),
            turn: TurnId(1),
            authority: Authority::OperatorAs(Caller {
                npc: Arc::from(bartok.name.as_str()),
                tier: Tier::Fast,
                offered: host.visible(&bartok.name, Tier::Fast, Tier::Fast.ceiling()).names(),
                sampler: None,
                payments: None,
            }),
            speaker: Arc::from("Player"),
            by: None,
            deadline: Instant::now() + PATIENCE,
            fresh: false,
            taint: Taint::default(),
            progress: Progress::default(),
            span: Default::default(),
            cancel: CancellationToken::new(),
            effects: Arc::new(Nothing),
        };
        let record = host.execute(&context, &call).await;
        times.push(ms(started.elapsed()));
        assert!(record.result.is_ok(), "{record:?}");
    }
    Figures::new(times)
}

/// Takes between nothing and [`LONGEST`] ms.
struct Random(Mutex<StdRng>);

impl Handler for Random {
    fn call<'a>(
        &'a self,
        _context: &'a CallContext,
        _arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        let mut rng = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let takes = Duration::from_millis(rng.random_range(0..=LONGEST));
        sleep(takes).map(|()| Ok(CallOutput::json(json!({})))).boxed()
    }
}

/// Turns of one table; by how many ms each went over the ceiling.
async fn ceiling(seed: u64, turns: usize) -> Vec<f64> {
    let services = Services {
        recogniser: Recogniser { ends_utterances: true, partial: None },
        model: Model { token: TOKEN, calls: 2 },
        synthesiser: Synthesiser::new(Duration::from_millis(20)),
        tool: Definition {
            declared: Declared {
                estimated: Some(Duration::from_millis(100)),
                max: Some(Duration::from_secs(4)),
                ..Declared::default()
            },
            handler: Arc::new(Random(Mutex::new(StdRng::seed_from_u64(seed)))),
            ..nothing()
        },
    };
    let (table, mut events) = open_table(services, Box::new(Stopwatch::default())).await;
    table
        .commands
        .send(Command::SetTier { seat: None, tier: Some(Tier::Fast), until: None })
        .await
        .expect("the table is open");
    let mut over = Vec::new();
    for _ in 0..turns {
        let text = "what is new in town".to_owned();
        let typed = Command::Typed { speaker: PLAYER, text };
        table.commands.send(typed).await.expect("the table is open");
        let answer = async {
            loop {
                if let TableEvent::Line(line) = events.recv().await.expect("the table is open") {
                    break line;
                }
            }
        };
        let line = timeout(PATIENCE, answer).await.expect("it is answered");
        let used: f64 = line.tools.iter().map(|call| call.ms).sum();
        over.push((used - CEILING).max(0.0));
    }
    over
}

/// By how many ms the bare runtime is late after 500 ms.
async fn timer() -> f64 {
    let started = std::time::Instant::now();
    sleep(Duration::from_millis(500)).await;
    ms(started.elapsed()) - CEILING
}
