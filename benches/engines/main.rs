//! Engines: the first sound of the sentence cascade, and what speech to speech adds to its service's own
//! times, at fifty seats that talk. One JSON line per case, then one that says which goals hold.
//!
//! Each seat has a session over a WebSocket of its own with a stand-in (`service.rs`), whose first
//! sound comes 500 ms after it is asked, a call after 300 ms. A seat has a turn every 6 s, which
//! begins with 3 s of speech: an answer, a call of the dice, an interruption and a cut by turns.
//! The floor is a message with 100 ms of sound on a bare WebSocket of the same service and back, in
//! the same minutes; the cascade is asked alone before each cut. `--quick` has three seats with one
//! turn of each kind, after half a second of speech.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of failing turns is none")]

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

mod seat;
mod sentences;
mod service;

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{SinkExt, StreamExt, future::join_all};
use glyphoxa::measure::Frame;
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    time::{sleep_until, timeout},
};
use tokio_tungstenite::{client_async, tungstenite::Message};

use seat::{Case, Seat, Times};
use sentences::FirstSounds;
use service::Service;
use support::{
    figures::{Figures, goal, ms, rounded, runtime},
    sound::babble,
};

/// Amount of work.
#[derive(Clone, Copy)]
struct Extent {
    /// Seats at once.
    seats: u32,
    /// Turns of each seat.
    turns: u32,
    /// Time between the beginnings of two turns of a seat, if the first is over by then.
    every: Duration,
    /// Frames of an utterance.
    spoken: usize,
    /// Turns of each chat model, alone and in the sentence cascade.
    sentences: u32,
}

/// For figures.
const WHOLE: Extent =
    Extent { seats: 50, turns: 12, every: Duration::from_secs(6), spoken: 150, sentences: 12 };
/// To see that it runs.
const QUICK: Extent =
    Extent { seats: 3, turns: 4, every: Duration::from_secs(1), spoken: 25, sentences: 1 };
/// Time between two messages on a bare socket.
const FLOOR_EVERY: Duration = Duration::from_secs(1);
/// Settling before anything is measured.
const SETTLE: Duration = Duration::from_secs(2);
/// Longest wait for an echo.
const GIVEN_UP: Duration = Duration::from_secs(10);

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let extent = if quick { QUICK } else { WHOLE };
    let sounds = runtime().block_on(FirstSounds::measure(extent.sentences));
    println!("{}", sounds.fast.line("fast_model_alone"));
    println!("{}", sounds.strong.line("strong_model_alone"));
    println!("{}", sounds.both.line("sentence_cascade"));
    let service = Service::new();
    let (times, floor) = runtime().block_on(run(&service, extent));
    let all = |of: fn(&Times) -> &Vec<f64>| Figures::new(times.iter().flat_map(of).copied());
    let cascade = all(|it| &it.cascade);
    let (commit, first_frame) = (all(|it| &it.commit), all(|it| &it.first_frame));
    let (tool_round, truncate) = (all(|it| &it.tool_round), all(|it| &it.truncate));
    let cut = all(|it| &it.cut).less(cascade.at(50));
    print(&[
        ("commit", &commit, &floor),
        ("first_frame", &first_frame, &floor),
        ("tool_round", &tool_round, &floor),
        ("truncate", &truncate, &floor),
        ("cut_beyond_cascade", &cut, &cascade.less(cascade.at(50))),
    ]);
    println!("{}", cascade.line("cascade"));
    let floor = floor.at(99);
    let goals = [
        held(
            "first sound of the sentence cascade beyond the fast model alone in ms, p50",
            sounds.both.at(50) - sounds.fast.at(50),
            20.0,
            sounds.fast.at(99) - sounds.fast.at(50),
        ),
        held("end of turn to commit in ms, p99", commit.at(99), 5.0, floor),
        held("first sound to first frame in ms, p99", first_frame.at(99), 5.0, floor),
        held("tool round beyond the tool in ms, p99", tool_round.at(99), 3.0, floor),
        held("barge-in to truncate in ms, p99", truncate.at(99), 10.0, floor),
        held(
            "cut to first frame beyond the cascade alone in ms, p99",
            cut.at(99),
            50.0,
            cascade.at(99) - cascade.at(50),
        ),
    ];
    println!("{}", json!({ "seats": extent.seats, "goals": goals }));
}

/// Prints the line of each case beside its floor.
fn print(cases: &[(&str, &Figures, &Figures)]) {
    for (case, figures, floor) in cases {
        let mut line = figures.line(case);
        line["floor_p50_ms"] = rounded(floor.at(50));
        line["floor_p99_ms"] = rounded(floor.at(99));
        println!("{line}");
    }
}

/// Verdict on `value` against the goal, absolutely or less what the floor takes.
fn held(what: &str, value: f64, at_most: f64, floor: f64) -> Value {
    let mut goal = goal(what, value, at_most);
    goal["relative"] = (value - floor <= at_most).into();
    goal
}

/// The times of all seats, and the floor.
async fn run(service: &Service, extent: Extent) -> (Vec<Times>, Figures) {
    let Extent { seats: count, turns, every, spoken, .. } = extent;
    let spoken: Arc<[Frame]> = babble(spoken).into();
    let open = |_| Seat::open(service.peer(), Arc::clone(&spoken));
    let seats = join_all((0..count).map(open)).await;
    let (echo, message) = (service.echo(), service.message());
    let begin = Instant::now() + SETTLE;
    let floors: Vec<_> = (0..count)
        .map(|nth| {
            let first = begin + FLOOR_EVERY * nth / count;
            tokio::spawn(round_trips(echo, message.clone(), first, begin + every * turns))
        })
        .collect();
    let talking: Vec<_> = (0..count)
        .zip(seats)
        .map(|(nth, seat)| tokio::spawn(talk(seat, begin + every * nth / count, extent)))
        .collect();
    let mut times = Vec::new();
    for seat in talking {
        times.push(seat.await.expect("every turn went as it should"));
    }
    let floors = join_all(floors).await.into_iter();
    let floors = floors.flat_map(|of_socket| of_socket.expect("every message came back"));
    (times, Figures::new(floors))
}

/// The turns of a seat, the first of them at `due`.
async fn talk(mut seat: Seat, mut due: Instant, extent: Extent) -> Times {
    for (_, case) in (0..extent.turns).zip(Case::ALL.into_iter().cycle()) {
        sleep_until(due.into()).await;
        due += extent.every;
        if case == Case::Cut {
            seat.turn_of_cascade().await;
        }
        seat.turn(case).await;
    }
    seat.into_times()
}

/// Times in ms from sending `message` to getting it back, from `due` on until `end`.
async fn round_trips(
    address: SocketAddr,
    message: String,
    mut due: Instant,
    end: Instant,
) -> Vec<f64> {
    let stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    let (mut socket, _) = client_async("ws://127.0.0.1/", stream).await.expect("a WebSocket");
    let mut times = Vec::new();
    while due < end {
        sleep_until(due.into()).await;
        due += FLOOR_EVERY;
        let message = Message::text(message.clone());
        let sent = Instant::now();
        socket.send(message).await.expect("it leaves");
        let back = timeout(GIVEN_UP, socket.next()).await.expect("it is soon back");
        times.push(ms(sent.elapsed()));
        assert!(back.is_some_and(|it| it.is_ok()), "the echo is gone");
    }
    times
}
