//! Services at published times: from the end of speech to the first frame of the answer. One JSON
//! line per case, then one that says which goals hold.
//!
//! Stand-ins in this process take the times of `published.rs`. `sequential` is a plain pipeline
//! with them, the floor, at the same time as `patience`, which waits for 500 ms of silence and asks
//! nothing ahead; `pooled` does so at fifty tables at once. All tables of a case share one voice.
//! `eager_end`, `stable_partial` and `words` ask the model ahead, with a recogniser that ends
//! utterances or by words. In `refuses` and `stalls` the first model of the chain is down.
//! `--quick` has a turn each at two tables, and four with a model that is down.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of failing turns is none")]

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

mod published;
mod sequential;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use glyphoxa::measure::{
    Candidate, Chain, ChatModel, Detector, Frame, Npc, Options, TextToSpeech, Voice,
};
use serde_json::{Value, json};
use tokio::time::sleep;

use published::{
    DownModel, FIRST_BYTE_TIMEOUT, Fault, Jitter, Model, Own, PooledVoice, Recogniser,
};
use sequential::Sequential;
use support::{
    figures::{Figures, goal, ms, runtime},
    sound::{LAST, WORD, babble, marked},
    table::{AnyServices, QUIET, Room, nothing, npc, phase},
};

/// Silence that ends an utterance where words don't.
const PATIENCE: Duration = Duration::from_millis(500);
/// Frames of the utterance.
const SPOKEN: usize = 60;
/// Time after which a new table speaks no line in advance.
const SETTLE: Duration = Duration::from_millis(500);
/// Seed of the first table.
const SEED: u64 = 57;

/// Amount of work.
#[derive(Clone, Copy)]
struct Extent {
    /// Tables at the same time.
    tables: u32,
    /// Turns of each.
    turns: u32,
    /// Tables and turns of `pooled`.
    pooled: (u32, u32),
    /// Turns of a table whose first model is down.
    down: u32,
    /// Time within which tables begin one after the other.
    spread: Duration,
}

/// For figures.
const WHOLE: Extent =
    Extent { tables: 4, turns: 25, pooled: (50, 8), down: 12, spread: Duration::from_secs(3) };
/// To see that it runs.
const QUICK: Extent =
    Extent { tables: 2, turns: 1, pooled: (4, 1), down: 4, spread: Duration::from_millis(100) };

/// A kind of table.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    /// The recogniser ends utterances; otherwise the table does.
    service_ends: bool,
    /// Asks the model ahead, and lets words end turns; otherwise silence does.
    is_ahead: bool,
    /// Frames of a word. With fewer than ten the last one ends before the voice.
    word: usize,
    /// State of the first of two models; `None`: the only one works.
    down: Option<Fault>,
}

const PATIENT: Case =
    Case { name: "patience", service_ends: false, is_ahead: false, word: 10, down: None };
const POOLED: Case = Case { name: "pooled", ..PATIENT };
const EAGER: Case = Case { name: "eager_end", service_ends: true, is_ahead: true, ..PATIENT };
const STABLE: Case = Case { name: "stable_partial", word: 7, ..EAGER };
const WORDS: Case = Case { name: "words", is_ahead: true, ..PATIENT };
const REFUSES: Case = Case { name: "refuses", down: Some(Fault::Refuses), ..PATIENT };
const STALLS: Case = Case { name: "stalls", down: Some(Fault::Stalls), ..PATIENT };

/// Times of a turn in ms.
struct Turn {
    /// Last speech frame handed in to first sound of the answer.
    total: f64,
    /// Beyond the patience and the services' own times; at tables from the end of speech by our
    /// detector.
    overhead: f64,
    /// A model that is down was asked.
    met_fault: bool,
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let extent = if quick { QUICK } else { WHOLE };
    let goals = runtime().block_on(measure(extent));
    println!("{}", json!({ "goals": goals }));
}

/// All cases; verdicts on the goals.
async fn measure(extent: Extent) -> Vec<Value> {
    let (tables, turns) = (extent.tables, extent.turns);
    let (floor, patient) =
        tokio::join!(sequential(extent), run(PATIENT, (tables, turns), extent.spread));
    let floor = printed("sequential", &floor);
    let patient = printed(PATIENT.name, &patient);
    let pooled = printed(POOLED.name, &run(POOLED, extent.pooled, extent.spread).await);
    let mut goals = vec![
        held(50, &patient, &floor, 5.0),
        held(99, &patient, &floor, 15.0),
        goal("added by many tables on one voice, ms, p50", pooled.at(50) - patient.at(50), 2.0),
        goal("added by many tables on one voice, ms, p99", pooled.at(99) - patient.at(99), 5.0),
    ];
    for (case, p50) in [(EAGER, 650.0), (STABLE, 500.0), (WORDS, 650.0)] {
        let turns = run(case, (tables, turns), extent.spread).await;
        let total = Figures::new(turns.iter().map(|turn| turn.total));
        print(case.name, &total, &[]);
        let what = |percent| format!("voice to voice in ms, {}, p{percent}", case.name);
        goals.push(goal(&what(50), total.at(50), p50));
        goals.push(goal(&what(95), total.at(95), 1_000.0));
    }
    let (refuses, stalls) = tokio::join!(
        run(REFUSES, (tables, extent.down), extent.spread),
        run(STALLS, (tables, extent.down), extent.spread),
    );
    let timeout = ms(FIRST_BYTE_TIMEOUT);
    let usual = patient.at(50);
    for (case, turns, at_most) in [(REFUSES, refuses, 50.0), (STALLS, stalls, timeout + 5.0)] {
        let (fault, rest) = down(case, &turns, usual);
        let what = |when| format!("later in ms, the first model {}, {when}, p50", case.name);
        goals.push(goal(&what("asked"), fault.at(50), at_most));
        goals.push(goal(&what("breaker open"), rest.at(50), 2.0));
    }
    goals
}

/// Verdict on the overhead of turns with fixed patience, absolutely or beyond the floor's.
fn held(percent: usize, patient: &Figures, floor: &Figures, at_most: f64) -> Value {
    let what = format!("beyond the services' own sum, fixed patience, ms, p{percent}");
    let mut goal = goal(&what, patient.at(percent), at_most);
    goal["relative"] = (patient.at(percent) - floor.at(percent) <= at_most).into();
    goal
}

/// Prints the line of a case that asks nothing ahead; its overheads.
fn printed(case: &str, turns: &[Turn]) -> Figures {
    let overhead = Figures::new(turns.iter().map(|turn| turn.overhead));
    let total = Figures::new(turns.iter().map(|turn| turn.total));
    print(case, &total, &[("overhead_", &overhead)]);
    overhead
}

/// Prints the line of a case with a model that is down; by how much its answers are later than
/// `usual`, where that model was asked and where its breaker was open.
fn down(case: Case, turns: &[Turn], usual: f64) -> (Figures, Figures) {
    let later = |met_fault| {
        let turns = turns.iter().filter(|turn| turn.met_fault == met_fault);
        Figures::new(turns.map(|turn| turn.overhead - usual))
    };
    let (fault, rest) = (later(true), later(false));
    let total = Figures::new(turns.iter().map(|turn| turn.total));
    print(case.name, &total, &[("later_", &fault), ("open_later_", &rest)]);
    (fault, rest)
}

/// Prints a line with the percentiles of all `figures`, each under its prefix.
fn print(case: &str, total: &Figures, figures: &[(&str, &Figures)]) {
    let mut line = total.line(case);
    for (prefix, figures) in figures {
        line[format!("{prefix}n")] = figures.n().into();
        figures.add_to(&mut line, prefix);
    }
    println!("{line}");
}

/// Turns of as many plain pipelines as tables.
async fn sequential(extent: Extent) -> Vec<Turn> {
    let spoken: Arc<[Frame]> = spoken(PATIENT.word).into();
    let all = (0..extent.tables).map(|nth| {
        let spoken = Arc::clone(&spoken);
        tokio::spawn(async move {
            sleep(extent.spread * nth / extent.tables).await;
            let pipeline = Sequential::new(SEED + u64::from(nth));
            let mut turns = Vec::new();
            for _ in 0..extent.turns {
                turns.push(pipeline.turn(&spoken).await);
                sleep(QUIET).await;
            }
            turns
        })
    });
    let all = join_all(all).await.into_iter();
    all.flat_map(|turns| turns.expect("every turn was answered")).collect()
}

/// All turns of `tables` tables that share a voice.
async fn run(case: Case, (tables, turns): (u32, u32), spread: Duration) -> Vec<Turn> {
    let spoken: Arc<[Frame]> = spoken(case.word).into();
    let owns: Vec<Own> = (0..tables).map(|_| Own::default()).collect();
    let voice = PooledVoice::open(SEED, owns.clone());
    let all = (0..tables).zip(owns).map(|(nth, own)| {
        let (voice, spoken) = (Arc::clone(&voice), Arc::clone(&spoken));
        tokio::spawn(async move {
            let mut table = Table::open(case, (nth, tables), voice, own).await;
            sleep(spread * nth / tables).await;
            let mut times = Vec::new();
            for _ in 0..turns {
                times.push(table.turn(&spoken).await);
                sleep(QUIET).await;
            }
            times
        })
    });
    let all = join_all(all).await.into_iter();
    all.flat_map(|turns| turns.expect("every turn was answered")).collect()
}

/// The frames of an utterance whose words have `word` frames each.
fn spoken(word: usize) -> Vec<Frame> {
    let mut frames = babble(SPOKEN);
    for (nth, frame) in (1..).zip(&mut frames) {
        if nth == SPOKEN {
            *frame = marked(frame, LAST);
        } else if nth % word == 0 {
            *frame = marked(frame, WORD);
        }
    }
    frames
}

impl Case {
    fn options(self) -> Options {
        if self.is_ahead {
            return Options::default();
        }
        Options { detector: Detector::Off, preemptive: false, ..Options::default() }
    }

    /// Models of a table; `asked` counts the requests to one that is down.
    fn models(
        self,
        (jitter, own): (Jitter, Own),
        asked: &Arc<AtomicUsize>,
    ) -> Chain<dyn ChatModel> {
        let works: Arc<dyn ChatModel> = Arc::new(Model { jitter: jitter.clone(), own });
        let Some(fault) = self.down else { return Chain::of("works", works) };
        let asked = Arc::clone(asked);
        let down: Arc<dyn ChatModel> = Arc::new(DownModel { fault, jitter, asked });
        let candidate = |name, model| Candidate::new(name, model, Arc::default());
        Chain::new(candidate("down", down), vec![candidate("works", works)], false)
    }
}

/// A table and the times of its services.
struct Table {
    room: Room,
    own: Own,
    /// Requests to a model that is down.
    asked: Arc<AtomicUsize>,
}

impl Table {
    /// Table `nth` of `tables`, whose frames come at its own moment within 20 ms.
    async fn open(
        case: Case,
        (nth, tables): (u32, u32),
        voice: Arc<dyn TextToSpeech>,
        own: Own,
    ) -> Self {
        let jitter = Jitter::new(SEED + u64::from(nth));
        let asked = Arc::default();
        let services = AnyServices {
            npc: Npc { voice: Voice::as_is("stand-in", &nth.to_string()), ..npc() },
            recogniser: Arc::new(Recogniser {
                ends_utterances: case.service_ends,
                jitter: jitter.clone(),
                own: own.clone(),
            }),
            models: case.models((jitter, own.clone()), &asked),
            voice,
            tool: nothing(),
            options: case.options(),
        };
        let room = Room::open(services, phase(nth, tables)).await;
        sleep(SETTLE).await;
        Self { room, own, asked }
    }

    async fn turn(&mut self, spoken: &[Frame]) -> Turn {
        self.own.begin();
        let before = self.asked.load(Ordering::Relaxed);
        let (total, line) = self.room.answered(spoken.to_vec()).await;
        let thought = line.made_by.as_ref().map(|made_by| made_by.thought.as_slice());
        assert!(matches!(thought, Some([name]) if name == "works"), "not the model: {line:?}");
        let from_voice = line.ms.speech_end_to_first_audio;
        Turn {
            total: ms(total),
            overhead: from_voice - ms(PATIENCE) - self.own.sum(),
            met_fault: self.asked.load(Ordering::Relaxed) > before,
        }
    }
}
