//! Figures of `./dev proof`: many clients at once beside a table that talks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{Served, caller::Caller};
use crate::support::chat_server::ChatServer;

/// Clients at once, each with a token of its own.
const CLIENTS: u32 = 50;
/// Time from one roll of a client to its next; all in all 200 a second.
const BETWEEN_ROLLS: Duration = Duration::from_millis(250);
/// Lines that the NPC says alone, and as many beside the clients.
const LINES: usize = 100;
/// Time from the end of a line to the next.
const BETWEEN_LINES: Duration = Duration::from_millis(100);

/// Times in ms, sorted.
struct Times(Vec<f64>);

impl Times {
    fn new(times: impl IntoIterator<Item = Duration>) -> Self {
        let mut times: Vec<f64> =
            times.into_iter().map(|time| time.as_secs_f64() * 1_000.0).collect();
        assert!(!times.is_empty());
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    /// The time that `percent` of all are not longer than.
    fn at(&self, percent: usize) -> f64 {
        self.0[(self.0.len() * percent).div_ceil(100) - 1]
    }
}

#[test]
fn fifty_clients_roll_beside_a_table_in_time() {
    let voice = ChatServer::start();
    let tts =
        format!("  tts: {{ name: openai, base_url: \"{}\", model: tts }}\n", voice.base_url());
    let served = Served::with(&tts, "{ provider: openai, voice_id: alloy }");
    let mut narrator = Caller::new(served.port, &served.token("dm"));
    let alone = talk(&mut narrator);
    let is_over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|nth| {
            let client = Caller::new(served.port, &served.token("player"));
            let is_over = Arc::clone(&is_over);
            let first = BETWEEN_ROLLS * nth / CLIENTS;
            thread::spawn(move || roll(client, first, &is_over))
        })
        .collect();
    let beside = talk(&mut narrator);
    is_over.store(true, Ordering::Relaxed);
    let rolls = Times::new(clients.into_iter().flat_map(|client| client.join().unwrap()));
    let added = |percent| beside.at(percent) - alone.at(percent);
    eprintln!(
        "{CLIENTS} MCP clients, {} calls of dice.roll: p50 {:.2} ms, p99 {:.2} ms; a line of the NPC beside \
         them: p50 {:+.2} ms, p99 {:+.2} ms (alone {:.2} and {:.2} ms)",
        rolls.0.len(),
        rolls.at(50),
        rolls.at(99),
        added(50),
        added(99),
        alone.at(50),
        alone.at(99)
    );
    assert!(rolls.at(50) <= 5.0 && rolls.at(99) <= 20.0, "the rolls are late, see above");
    assert!(added(50) <= 2.0 && added(99) <= 5.0, "the table is late, see above");
}

/// The NPC says [`LINES`]; the times until each was heard, by listeners that take it as it comes.
#[track_caller]
fn talk(narrator: &mut Caller) -> Times {
    let lines = (0..LINES).map(|nth| {
        let text = format!("That is line number {nth}.");
        let started = Instant::now();
        let spoken = narrator.call("voice.speak", &json!({ "npc": "Bartok", "text": text }));
        let took = started.elapsed();
        assert_eq!(spoken["structuredContent"]["how"], "spoken", "{spoken:#}");
        thread::park_timeout(BETWEEN_LINES);
        took
    });
    Times::new(lines)
}

/// Rolls until it is over, the first time after `first`; the times of the calls.
fn roll(mut client: Caller, first: Duration, is_over: &AtomicBool) -> Vec<Duration> {
    thread::park_timeout(first);
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let started = Instant::now();
        client.call("dice.roll", &json!({ "dice": "1d20" }));
        times.push(started.elapsed());
        thread::park_timeout(BETWEEN_ROLLS);
    }
    times
}
