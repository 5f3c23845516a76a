//! An evening: many tables in one process, some of which talk, play music, or do both, on a real
//! store of SQLite. All others hear silence.
//!
//! Entry functions: [`run`] is the process with the tables, [`goals`] judges its line.

use std::{
    fs, iter,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use glyphoxa::measure::{
    CampaignKey, Command, EventReader, Frame, MusicOrder, MusicPlayer, Outlets, Owner, Pace,
    RecallMemory, Scope, SessionId, Sqlite, TableEvent, TableEvents, TableSetup, Tables,
    Transcript, TranscriptOptions, TranscriptWriter, TurnLine, open,
};
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    outputs::{Music, Speech, Spoken, take_music, track},
    services,
    support::{
        figures::{Figures, TOKEN, TOKENS_BEFORE_SENTENCE, goal, ms, rounded, runtime},
        process::{cpu_of, resident_mb},
        sound::utterance,
        stand_ins::{Nothing, Stopwatch},
        table::{Room, join, parts, phase},
    },
};

/// One table of so many talks.
const TALKS: u32 = 4;
/// Of so many tables, one plays music and talks, one plays music alone.
const PLAYS: u32 = 20;
/// Longest warm-up.
const WARM: Duration = Duration::from_secs(300);
/// Room for looks from the start: those of over two hours.
const LOOKS: usize = 1_000;
/// Unix time in ms, later than every line.
const NOW: i64 = 2_200_000_000_000;
/// Last words of each answer.
const END: &str = "by the fire.";

/// Number of tables, and length.
#[derive(Clone, Copy)]
pub struct Evening {
    tables: u32,
    length: Duration,
    /// Settling before anything is measured.
    settle: Duration,
    /// Time between two utterances at one table.
    every: Duration,
    /// Time between two looks at the memory.
    apart: Duration,
}

impl Evening {
    /// An evening of so many minutes; `None`: a moment.
    pub fn new(tables: u32, minutes: Option<u64>) -> Self {
        let Some(minutes) = minutes else {
            let [length, settle, every, apart] =
                [6_000, 500, 1_500, 500].map(Duration::from_millis);
            return Self { tables, length, settle, every, apart };
        };
        let [length, settle, every, apart] = [minutes * 60, 5, 6, 10].map(Duration::from_secs);
        Self { tables, length, settle, every, apart }
    }

    fn warm_up(self) -> Duration {
        (self.length / 6).min(WARM)
    }

    fn talking(self) -> impl Iterator<Item = u32> {
        (0..self.tables).filter(|nth| nth.is_multiple_of(TALKS))
    }

    /// Times into the evening at which table `nth` has its turns; the last answer ends before it.
    fn turns(self, nth: u32) -> impl Iterator<Item = Duration> {
        let first = self.every * (nth / TALKS) / self.tables.div_ceil(TALKS);
        let last = self.length.saturating_sub(self.every);
        iter::successors(Some(first), move |due| Some(*due + self.every))
            .take_while(move |due| *due <= last)
    }

    /// Turns that are due at all tables.
    fn turns_due(self) -> usize {
        self.talking().map(|nth| self.turns(nth).count()).sum()
    }
}

/// True for as many tables that talk as tables that do not.
fn plays(nth: u32) -> bool {
    matches!(nth % PLAYS, 0 | 2)
}

/// Parts that all tables share.
struct Hall {
    evening: Evening,
    transcripts: TranscriptWriter,
    /// A player's words.
    said: Vec<Frame>,
    spoken: Arc<Spoken>,
    turns: Mutex<Turns>,
}

/// Turns of all tables, in ms, with room for each from the start.
struct Turns {
    totals: Vec<f64>,
    recalls: Vec<f64>,
    /// Look-ups of which a part was late.
    recalls_late: usize,
    /// Answers that were not played to their end.
    cut: usize,
}

impl Turns {
    fn take(&mut self, total: Duration, line: &TurnLine) {
        self.totals.push(ms(total));
        if let Some(recalled) = &line.recalled {
            self.recalls.push(recalled.ms);
            self.recalls_late += usize::from(!recalled.late.is_empty());
        }
        self.cut += usize::from(!line.reply.ends_with(END));
    }
}

/// The tables of a process, open.
struct Opened {
    /// Those that talk.
    talking: Vec<(u32, Room)>,
    /// Those that hear silence.
    silent: Vec<Room>,
    music: Vec<MusicPlayer>,
}

/// The process with the tables; prints their line.
pub fn run(evening: Evening) {
    let folder = tempfile::tempdir().expect("a folder");
    let line = runtime().block_on(pass(evening, folder.path()));
    println!("{line}");
}

async fn pass(evening: Evening, folder: &Path) -> Value {
    let hall = Arc::new(Hall::new(evening, folder));
    let Opened { talking, silent, music } = hall.open_all().await;
    sleep(evening.settle).await;
    let (before, began) = (cpu_of("self"), Instant::now());
    let outputs: Vec<JoinHandle<Music>> =
        music.into_iter().map(|it| tokio::spawn(take_music(it, began + evening.length))).collect();
    let talking: Vec<JoinHandle<Room>> = talking
        .into_iter()
        .map(|(nth, room)| tokio::spawn(talk(Arc::clone(&hall), nth, room, began)))
        .collect();
    let looks = look(evening, began, folder).await;
    let cores = (cpu_of("self") - before).as_secs_f64() / began.elapsed().as_secs_f64();
    let mut played = Music::default();
    for output in outputs {
        played.add(output.await.expect("an output that takes all frames"));
    }
    for table in talking {
        // A table that failed has said so; the turns that it lacks are counted.
        drop(table.await);
    }
    drop(silent);
    let unwritten = hall.transcripts.close().await;
    let mut line = json!({
        "case": "evening", "tables": evening.tables, "talking": evening.talking().count(),
        "minutes": rounded(evening.length.as_secs_f64() / 60.0),
        "cores": rounded(cores), "unwritten": unwritten,
    });
    hall.add_turns_to(&mut line);
    played.add_to(&mut line);
    hall.spoken.add_to(&mut line);
    add_memory_to(&mut line, &looks, evening.warm_up());
    line
}

impl Hall {
    fn new(evening: Evening, folder: &Path) -> Self {
        let store = Sqlite::open(&folder.join("memory.db")).expect("a folder that takes a store");
        let options = TranscriptOptions { spill: folder.join("waiting"), retention_days: None };
        let due = evening.turns_due();
        Self {
            evening,
            transcripts: TranscriptWriter::open(Arc::new(store), Tables::default(), &options),
            said: utterance(),
            spoken: Arc::default(),
            turns: Mutex::new(Turns {
                totals: Vec::with_capacity(due),
                recalls: Vec::with_capacity(due),
                recalls_late: 0,
                cut: 0,
            }),
        }
    }

    async fn open_all(&self) -> Opened {
        let mut opened = Opened { talking: Vec::new(), silent: Vec::new(), music: Vec::new() };
        for nth in 0..self.evening.tables {
            let (room, music) = self.open(nth).await;
            match nth.is_multiple_of(TALKS) {
                true => opened.talking.push((nth, room)),
                false => opened.silent.push(room),
            }
            opened.music.extend(Some(music).filter(|_| plays(nth)));
        }
        opened
    }

    /// Opens a table of a server of its own, whose lines are written down and looked up.
    async fn open(&self, nth: u32) -> (Room, MusicPlayer) {
        let owner = Owner::Guild(u64::from(nth) + 1);
        let scope = Scope { owner, campaign: CampaignKey("bench".to_owned()) };
        let session = SessionId(format!("evening-{nth}"));
        let events = TableEvents::new(64);
        let (told, read) = (events.subscribe(), events.subscribe());
        let music = MusicPlayer::new(events.downgrade());
        let stopwatch = Stopwatch::default();
        let outlets = Outlets {
            out: Box::new(Speech::new(stopwatch.clone(), Arc::clone(&self.spoken))),
            pace: Pace::RealTime,
            music: music.clone(),
            effects: Arc::new(Nothing),
            halts: Arc::default(),
            events,
        };
        let (setup, mut parts) = parts(services(true), outlets);
        let store = self.transcripts.store();
        parts.memory = Some(RecallMemory { store, scope: scope.clone(), now: || NOW });
        let (handle, _task) = open(TableSetup { session: session.clone(), ..setup }, parts);
        join(&handle).await;
        let of = Transcript { scope, session };
        tokio::spawn(write_down(self.transcripts.clone(), of, read));
        if plays(nth) {
            let play = Command::Music(MusicOrder::Play(track()));
            handle.commands.send(play).await.expect("the table is open");
        }
        (Room::of(handle, told, stopwatch, phase(nth, self.evening.tables)), music)
    }

    fn add_turns_to(&self, line: &mut Value) {
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let totals = Figures::new(turns.totals.iter().copied());
        line["n"] = totals.n().into();
        line["turns_lost"] = self.evening.turns_due().saturating_sub(totals.n()).into();
        line["answers_cut"] = turns.cut.into();
        totals.less(sentence()).add_to(line, "overhead_");
        Figures::new(turns.recalls.iter().copied()).add_to(line, "recall_");
        line["recalls_late"] = turns.recalls_late.into();
    }
}

/// Time until the first sentence exists, in ms.
fn sentence() -> f64 {
    ms(TOKEN * TOKENS_BEFORE_SENTENCE)
}

/// Writes down the lines of a table, as the program does.
async fn write_down(transcripts: TranscriptWriter, of: Transcript, mut read: EventReader) {
    transcripts.begins(&of);
    while let Some(event) = read.recv().await {
        match event {
            TableEvent::Asked(line) => transcripts.asked(&of, &line),
            TableEvent::Line(line) => transcripts.line(&of, &line),
            _ => {}
        }
    }
}

/// A table's turns, each at its time or after the one before.
async fn talk(hall: Arc<Hall>, nth: u32, mut room: Room, began: Instant) -> Room {
    for due in hall.evening.turns(nth) {
        sleep_until(began + due).await;
        let (total, line) = room.answered(hall.said.clone()).await;
        hall.turns.lock().unwrap_or_else(PoisonError::into_inner).take(total, &line);
    }
    room
}

/// The memory at one time.
struct Look {
    at: Duration,
    resident_mb: f64,
    stored_mb: f64,
}

/// Looks at the memory until the evening is over.
async fn look(evening: Evening, began: Instant, folder: &Path) -> Vec<Look> {
    let mut looks = Vec::with_capacity(LOOKS);
    let mut due = evening.apart;
    while due <= evening.length {
        sleep_until(began + due).await;
        let (resident_mb, stored_mb) = (resident_mb("self"), size_mb(folder));
        looks.push(Look { at: began.elapsed(), resident_mb, stored_mb });
        due += evening.apart;
    }
    looks
}

/// Size of the files in a folder.
fn size_mb(folder: &Path) -> f64 {
    let files = fs::read_dir(folder).expect("the folder of the store").flatten();
    // A file may go meanwhile.
    let bytes = files.filter_map(|file| Some(file.metadata().ok()?.len() as f64));
    bytes.sum::<f64>() / 1e6
}

fn add_memory_to(line: &mut Value, looks: &[Look], warm_up: Duration) {
    let warm: Vec<&Look> = looks.iter().filter(|look| look.at >= warm_up).collect();
    let ends = warm.first().zip(warm.last());
    let (first, last) = ends.expect("an evening is longer than its warm-up");
    let points = warm.iter().map(|look| (look.at.as_secs_f64() / 3_600.0, look.resident_mb));
    let (slope, error) = slope(&points.collect::<Vec<_>>());
    line["warm_up_s"] = rounded(warm_up.as_secs_f64());
    line["looks"] = warm.len().into();
    line["rss_warm_mb"] = rounded(first.resident_mb);
    line["rss_mb"] = rounded(last.resident_mb);
    line["rss_mb_per_hour"] = rounded(slope);
    line["rss_mb_per_hour_error"] = rounded(error);
    line["stored_warm_mb"] = rounded(first.stored_mb);
    line["stored_mb"] = rounded(last.stored_mb);
}

/// Slope of the line of least squares through `points`, and its standard error; NaN for too few.
fn slope(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x_mean, y_mean) = (mean(|it| it.0), mean(|it| it.1));
    let squares: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    let products: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let slope = products / squares;
    let strays = points.iter().map(|(x, y)| (y - y_mean - slope * (x - x_mean)).powi(2));
    (slope, (strays.sum::<f64>() / (n - 2.0) / squares).sqrt())
}

/// Verdicts on the line of an evening, beside that of `source`.
pub fn goals(lines: &[Value]) -> Value {
    let of = |case: &str| lines.iter().find(|line| line["case"] == case).expect("its line");
    let figure = |name: &str| of("evening")[name].as_f64().unwrap_or(f64::NAN);
    let source = of("source");
    let [minute, tables] = ["cpu_s_per_session_minute", "tables"]
        .map(|name| source[name].as_f64().unwrap_or(f64::NAN));
    let over = figure("overhead_p99_ms") - (figure("bare_loop_floor_p99_ms") - sentence());
    let sum = |names: [&str; 2]| names.into_iter().map(figure).sum::<f64>();
    json!({
        "tables": source["tables"],
        "goals": [
            goal("turn in an evening, ms over the floor, both at p99", over, 5.0),
            goal("turns lost, answers cut", sum(["turns_lost", "answers_cut"]), 0.0),
            goal("frames of music late", figure("music_late"), 0.0),
            goal("ms of music missing", figure("music_missing_ms"), 0.0),
            goal("frames of speech late", figure("speech_late"), 0.0),
            goal("MB an hour after the warm-up", figure("rss_mb_per_hour"), 1.0),
            goal("cores without the bench's own", figure("cores") - minute * tables / 60.0, 1.0),
        ],
    })
}
