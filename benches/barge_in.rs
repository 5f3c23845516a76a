//! Interruptions: how fast an NPC that speaks is quieter, and silent. One JSON line per case, then
//! one that says which goals hold.
//!
//! `event`: the recogniser has a stop word, until the table hands over no more frames. The others
//! count from the first frame of the player's voice: `stop_word` has the word 300 ms into it,
//! `words` has other words, and `voice` a recogniser that gives no partials. `cancelled` is from
//! the moment the table stops its output until the voice service's synthesis is dropped; it makes
//! sound at the pace of speech. Default settings. `--quick` tries each twice.

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
    StreamExt,
    stream::{self, BoxStream},
};
use glyphoxa::measure::{
    Command, Error, Frame, Gain, OneByOne, OneShot, Pcm, SampleRate, SpeakRequest, TableHandle,
    VoiceOut,
};
use serde_json::{Value, json};
use support::{
    figures::{Figures, TOKEN, goal, ms, runtime},
    sound::{WORD, babble, marked, silence, tone},
    stand_ins::{Model, Recogniser, Synthesiser},
    table::{AnyServices, PLAYER, Services, hand_in, open_table},
};
use tokio::time::{Instant, interval, sleep};

/// Tables tried at the same time.
const AT_ONCE: usize = 4;
/// Time the NPC has been audible before it is interrupted.
const HEARD_FOR: Duration = Duration::from_millis(400);
/// Frames of the player's voice, longer than anything takes; where the machine was busy they go on.
const VOICE: usize = 60;
/// Frames of a voice that open a recogniser that ends utterances itself.
const OPENING: usize = 25;
/// No NPC is interrupted for longer.
const GIVEN_UP: Duration = Duration::from_secs(60);
/// Length of a frame.
const FRAME: Duration = Duration::from_millis(20);
/// A frame this much below the ones before is ducked.
const DUCKED: f64 = 0.9;

/// One way to interrupt.
#[derive(Clone, Copy)]
struct Case {
    /// Its name.
    name: &'static str,
    /// The recogniser ends utterances and is open already, and the player's voice is a mark in silence.
    event: bool,
    /// Text it reads, and at which frame of the voice.
    partial: Option<(usize, &'static str)>,
}

/// Times of a try, in ms from the first frame of the voice.
struct Tried {
    /// First quieter frame.
    ducked: Option<f64>,
    /// The table has stopped.
    silent: f64,
    /// Last frame handed over.
    last_frame: f64,
    /// From the stop to the end of the synthesis.
    cancelled: f64,
}

/// Output of a table.
#[derive(Default)]
struct Heard {
    /// Arrival and loudness of each frame.
    frames: Vec<(Instant, f64)>,
    /// Time at which the table stopped it.
    stopped: Option<Instant>,
    /// Time at which the synthesis was dropped.
    dropped: Option<Instant>,
}

/// Notes what comes out.
#[derive(Clone)]
struct Ear(Arc<Mutex<Heard>>, Gain);

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let n = if quick { 2 } else { 60 };
    let case = |name, event, partial| run(Case { name, event, partial }, n);
    let event = case("event", true, Some((0, "stop")));
    let stop_word = case("stop_word", false, Some((15, "stop")));
    let words = case("words", false, Some((12, "what about")));
    let voice = case("voice", false, None);
    let cancelled = Figures::new(event.iter().map(|tried| tried.cancelled));
    let last = Figures::new(event.iter().map(|tried| tried.last_frame.max(0.0)));
    let ducked = [&stop_word, &words, &voice].into_iter().flatten().filter_map(|t| t.ducked);
    let silent = |tries: &[Tried]| Figures::new(tries.iter().map(|tried| tried.silent)).at(50);
    println!(
        "{}",
        json!({ "goals": [
            goal("event to the last frame in ms, p95", last.at(95), 1.0),
            goal("the stop to the end of the synthesis in ms, p95", cancelled.at(95), 20.0),
            goal("stop word to silence in ms, p50", silent(&stop_word), 400.0),
            goal("confirmed speech to silence in ms, p50", silent(&words), 400.0),
            goal("voice to ducked in ms, p95", Figures::new(ducked).at(95), 100.0),
        ] })
    );
}

/// Tries one way `n` times, on a table of its own each, and prints its line.
fn run(case: Case, n: usize) -> Vec<Tried> {
    let tries = runtime().block_on(async {
        let tries = stream::iter(0..n).map(|nth| async move {
            // Anywhere between two frames of the NPC.
            let phase = Duration::from_micros(20_000 * u64::try_from(nth * 7 % n).unwrap_or(0))
                / u32::try_from(n).unwrap_or(1);
            tokio::spawn(attempt(case, phase)).await.expect("the npc was interrupted")
        });
        tries.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await
    });
    let mut line = json!({ "case": case.name, "n": n });
    let mut add = |what: &str, times: Vec<f64>| -> Value {
        Figures::new(times).add_to(&mut line, what);
        line.clone()
    };
    if !case.event {
        add("ducked_", tries.iter().filter_map(|tried| tried.ducked).collect());
    }
    add("cancelled_", tries.iter().map(|tried| tried.cancelled).collect());
    add("last_frame_", tries.iter().map(|tried| tried.last_frame.max(0.0)).collect());
    println!("{}", add("", tries.iter().map(|tried| tried.silent).collect()));
    tries
}

/// Lets an NPC speak, and interrupts it.
async fn attempt(case: Case, phase: Duration) -> Tried {
    let ear = Ear(Arc::default(), Gain::new(SampleRate::HZ_48000));
    let services = Services {
        recogniser: Recogniser {
            ends_utterances: case.event,
            partial: case.partial.map(|(_, text)| text),
        },
        model: Model { token: TOKEN, calls: 0 },
        synthesiser: Synthesiser::new(Duration::from_secs(4)),
        tool: support::table::nothing(),
    };
    let paced = Arc::new(OneByOne::new(Arc::new(Paced(Ear::clone(&ear)))));
    let services = AnyServices { voice: paced, ..services.into() };
    let (table, _events) = open_table(services, Box::new(ear.clone())).await;
    if case.event {
        say(&table, babble(OPENING)).await;
    }
    let text = "what is new in town".to_owned();
    let typed = Command::Typed { speaker: PLAYER, text };
    table.commands.send(typed).await.expect("the table is open");
    let more = if case.event { Vec::new() } else { babble(VOICE) };
    let mut voice = voice(case).into_iter().chain(more.into_iter().cycle());
    let mut began = None;
    sleep(phase).await;
    let mut ticks = interval(FRAME);
    let given_up = Instant::now() + GIVEN_UP;
    while ear.with(|heard| heard.stopped.is_none()) {
        assert!(Instant::now() < given_up, "{}: the npc talks on", case.name);
        ticks.tick().await;
        let interrupts = ear
            .with(|heard| heard.frames.first().map(|(at, _)| *at))
            .is_some_and(|at| at.elapsed() >= HEARD_FOR);
        let frame = if interrupts {
            began.get_or_insert_with(Instant::now);
            voice.next()
        } else {
            None
        };
        hand_in(&table, frame.unwrap_or_else(silence)).await;
    }
    table.commands.send(Command::Close).await.expect("the table is open");
    let began = began.expect("it was interrupted");
    while ear.with(|heard| heard.dropped.is_none()) {
        assert!(Instant::now() < given_up, "{}: the voice works on", case.name);
        sleep(FRAME).await;
    }
    ear.with(|heard| heard.sum_up(began))
}

/// Hands `frames` in as they are spoken.
async fn say(table: &TableHandle, frames: Vec<Frame>) {
    let mut ticks = interval(FRAME);
    for frame in frames {
        ticks.tick().await;
        hand_in(table, frame).await;
    }
}

/// The frames that interrupt.
fn voice(case: Case) -> Vec<Frame> {
    let mut frames = if case.event { vec![silence(); VOICE] } else { babble(VOICE) };
    if let Some((at, _)) = case.partial
        && let Some(frame) = frames.get_mut(at)
    {
        *frame = marked(frame, WORD);
    }
    frames
}

impl Ear {
    /// Looks at what was heard.
    fn with<T>(&self, act: impl FnOnce(&mut Heard) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Heard {
    /// Times from `began` on.
    fn sum_up(&self, began: Instant) -> Tried {
        let since = |at: Instant| ms(at - began) - ms(began - at);
        let before = self.frames.iter().filter(|(at, _)| *at < began);
        let loud = Figures::new(before.map(|(_, level)| *level)).at(50);
        let quieter = |(at, level): &&(Instant, f64)| *at >= began && *level < loud * DUCKED;
        Tried {
            ducked: self.frames.iter().find(quieter).map(|(at, _)| since(*at)),
            silent: self.stopped.map_or(f64::NAN, since),
            last_frame: self.frames.last().map_or(f64::NAN, |(at, _)| since(*at)),
            cancelled: match (self.stopped, self.dropped) {
                (Some(stopped), Some(dropped)) => ms(dropped - stopped),
                _ => f64::NAN,
            },
        }
    }
}

/// A voice service with sound at the pace of speech, for ever.
struct Paced(Ear);

/// Notes when a synthesis was dropped.
struct Dropped(Ear);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.with(|heard| heard.dropped = Some(Instant::now()));
    }
}

impl OneShot for Paced {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, _: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let (rate, dropped) = (SampleRate::HZ_24000, Dropped(Ear::clone(&self.0)));
        let samples = tone(rate.samples_in(FRAME), 24_000.0);
        stream::unfold((interval(FRAME * 9 / 10), dropped), move |(mut ticks, dropped)| {
            let samples = samples.clone();
            async move {
                ticks.tick().await;
                Some((Ok(Pcm { samples, rate }), (ticks, dropped)))
            }
        })
        .boxed()
    }
}

impl VoiceOut for Ear {
    fn play(&mut self, _npc: &str, frame: Frame) {
        let mut samples = frame.samples().to_vec();
        self.1.apply(&mut samples);
        let sum: f64 = samples.iter().map(|&s| f64::from(s) * f64::from(s)).sum();
        self.with(|heard| heard.frames.push((Instant::now(), sum.sqrt())));
    }

    fn ramp(&mut self, db: f32, over: Duration) {
        self.1.ramp_to(db, over);
    }

    fn stop(&mut self) -> usize {
        self.with(|heard| heard.stopped = Some(Instant::now()));
        0
    }
}
