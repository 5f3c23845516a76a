//! Random evenings, after which nothing holds a word of a person who was forgotten.
//!
//! A seed is an evening: people talk to NPCs whose services repeat every word, and meanwhile use the X-card,
//! opt out, have their lines deleted, leave and come back; sessions end and begin, the store fails for a
//! moment, and the program is killed. Each word is said once, so that it is known whose it was and when.
//! `GLYPHOXA_TEST_SEED=7` tries one seed again.

mod diary;
mod services;
mod start;
mod words;

use std::{
    collections::BTreeSet,
    env,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::Ordering},
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use tempfile::TempDir;
use tokio::{
    runtime::Builder,
    sync::broadcast::Receiver,
    time::{sleep, timeout},
};

use self::{
    diary::{Diary, Log},
    services::Wire,
    start::{CAST, Playing, Run},
    words::{MOST, Word, all_in, answered_in, as_killed, places, said_in},
};
use super::{BOUND, Deleted, GUILD, now, scope};
use crate::{
    campaign::clock::paused,
    domain::{PersonId, SessionId, Tier},
    engine::tests::props::ms,
    extent,
    memory::{self, ForgetFrom, Sqlite},
    session::{Command, EventReader, SpeakerId, TableEvent},
};

/// People who may be at the table.
const NAMES: [&str; 4] = ["Anna", "Ben", "Cleo", "Dora"];
/// When the evenings begin, in Unix time in ms.
const EVENING: i64 = 1_700_000_000_000;

/// Something that happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Someone speaks to an NPC.
    Speech {
        player: usize,
        aloud: bool,
    },
    XCard,
    OptOut(usize),
    Deletion(usize),
    /// Someone leaves, or sits down again.
    Move(usize),
    /// The session ends, and the next one goes on from it.
    NextSession,
    /// The store is away for a while.
    StoreFails,
    /// Waits until everything is written.
    CatchUp,
    Kill,
}

/// Someone at the table, or gone.
struct Player {
    id: SpeakerId,
    name: &'static str,
    is_here: bool,
}

/// A spoken word and its traces.
struct Spoken {
    by: usize,
    /// Number of the session and the run.
    session: usize,
    run: usize,
    /// Turns whose lines have it.
    turns: Vec<u64>,
    is_written: bool,
    is_taken_back: bool,
}

/// Words to be deleted.
struct Deletion {
    request: memory::Deletion,
    by: usize,
    words: BTreeSet<Word>,
    done: Option<Done>,
}

impl Deletion {
    /// True if both are of one person in one session, or in all: the later one includes the
    /// earlier.
    fn is_like(&self, other: &Self) -> bool {
        let (one, two) = (&self.request, &other.request);
        one.player == two.player && one.from.session == two.from.session
    }
}

/// All deletions of an evening. Clones share them.
#[derive(Clone)]
struct Deletions {
    all: Arc<Mutex<Vec<Deletion>>>,
    wire: Arc<Wire>,
}

impl Deletions {
    /// Deletion `number` is done: from now on nothing below `folder` may hold its words.
    fn done(&self, number: usize, folder: &Path) {
        let mut all = self.all.lock().unwrap();
        let (before, rest) = all.split_at_mut(number);
        let this = &mut rest[0];
        let before = before.iter_mut().filter(|it| it.is_like(this)).collect::<Vec<_>>();
        for deletion in before.into_iter().chain([this]).filter(|it| it.done.is_none()) {
            let (sent, words) = (self.wire.count(), self.wire.words.load(Ordering::SeqCst));
            deletion.done = Some(Done { sent, words });
            let places = places(folder, &deletion.words).into_iter();
            let places =
                places.map(|place| format!("when {:?} was done: {place}", deletion.request));
            self.wire.found.lock().unwrap().extend(places);
        }
    }

    /// Receives reports of delayed deletions.
    async fn listen(self, mut finished: Receiver<Deleted>, folder: PathBuf) {
        while let Ok(Deleted { asker, .. }) = finished.recv().await {
            self.done(asker.0.parse().unwrap(), &folder);
        }
    }

    fn are_done(&self) -> bool {
        self.all.lock().unwrap().iter().all(|it| it.done.is_some())
    }
}

/// Counts at the end of a deletion.
#[derive(Clone, Copy)]
struct Done {
    /// Messages to services.
    sent: usize,
    /// Words. Those that came while it was under way may be gone too.
    words: usize,
}

/// Counts of all evenings: none of this may be missing.
#[derive(Debug, Default)]
struct Tally {
    written: usize,
    forgotten: usize,
    kills: usize,
    summaries: usize,
    late: usize,
    approved: usize,
}

struct Evening {
    diary: Diary,
    rng: StdRng,
    folder: TempDir,
    /// Folders of runs that were killed and are not gone yet.
    graves: Vec<TempDir>,
    wire: Arc<Wire>,
    players: Vec<Player>,
    spoken: Vec<Spoken>,
    deletions: Deletions,
    /// Now, between two runs.
    time: i64,
    /// Events left.
    left: usize,
    runs: usize,
    sessions: usize,
    kills: usize,
}

impl Evening {
    fn new(seed: u64, empty: &Path) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let people = rng.random_range(2..=NAMES.len());
        let wire = Arc::<Wire>::default();
        let player = |(name, id)| Player { id: SpeakerId(id), name, is_here: true };
        Self {
            diary: Diary::new(seed),
            left: rng.random_range(16..28),
            rng,
            folder: as_killed(empty),
            graves: Vec::new(),
            wire: Arc::clone(&wire),
            players: NAMES.into_iter().zip(101..).take(people).map(player).collect(),
            spoken: Vec::new(),
            deletions: Deletions { all: Arc::default(), wire },
            time: EVENING,
            runs: 0,
            sessions: 0,
            kills: 0,
        }
    }

    /// One run of the program, to its end or a kill, which drops everything under way.
    fn run(&mut self) {
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(self.play());
        drop(runtime);
        self.graves.clear();
    }

    async fn play(&mut self) {
        self.runs += 1;
        self.diary.starts(self.runs);
        paused::begin(self.time);
        let run = Run::start(self.folder.path(), &self.wire);
        let folder = self.folder.path().to_owned();
        tokio::spawn(self.deletions.clone().listen(run.handles.privacy.finished(), folder));
        // Deletions interrupted by a kill continue.
        run.handles.privacy.resume();
        let mut table = self.next_session(&run).await;
        while self.left > 0 {
            self.left -= 1;
            // No two events at the same time: times are in ms.
            sleep(ms(self.rng.random_range(5..2_500))).await;
            let event = self.event();
            self.diary.note(&format!("{event:?}"));
            match event {
                Event::Kill => {
                    self.kills += 1;
                    self.read(&mut table.told);
                    self.time = now() + 1_000;
                    let left = as_killed(self.folder.path());
                    self.graves.push(std::mem::replace(&mut self.folder, left));
                    return;
                }
                Event::NextSession => {
                    self.end(&run, table).await;
                    table = self.next_session(&run).await;
                }
                event => self.happens(&run, &mut table, event).await,
            }
            self.read(&mut table.told);
        }
        self.end(&run, table).await;
        run.store.set_away(false);
        let all_done = async {
            while !self.deletions.are_done() {
                sleep(ms(100)).await;
            }
        };
        timeout(60 * BOUND, all_done).await.expect("all is deleted");
        self.time = now() + 1_000;
        run.close().await;
        for spoken in self.spoken.iter_mut().filter(|it| it.run == self.runs) {
            spoken.is_written |= !spoken.turns.is_empty();
        }
    }

    fn event(&mut self) -> Event {
        let player = self.rng.random_range(0..self.players.len());
        match self.rng.random_range(0..100) {
            0..58 => Event::Speech { player, aloud: self.rng.random_bool(0.25) },
            58..63 => Event::XCard,
            63..69 => Event::OptOut(player),
            69..76 => Event::Deletion(player),
            76..82 => Event::Move(player),
            82..88 => Event::NextSession,
            88..91 => Event::StoreFails,
            91..95 => Event::CatchUp,
            _ => Event::Kill,
        }
    }

    async fn happens(&mut self, run: &Run, table: &mut Playing, event: Event) {
        match event {
            Event::Speech { player, aloud } => self.speaks(table, player, aloud).await,
            Event::XCard => {
                table.order(Command::Halt).await;
                sleep(ms(self.rng.random_range(0..1_000))).await;
                table.order(Command::Mute { seat: None, muted: false }).await;
            }
            Event::OptOut(player) => {
                let is_said = |it: &Spoken| it.by == player && it.session == self.sessions;
                let words = self.words(is_said);
                self.players[player].is_here = false;
                table.says_no_more();
                table.order(Command::Forget(self.players[player].id)).await;
                self.forget(run, player, words, Some(table.id.clone()));
            }
            Event::Deletion(player) => {
                let words = self.words(|it| it.by == player);
                table.says_no_more();
                self.forget(run, player, words, None);
            }
            Event::Move(player) => {
                let Player { id, name, is_here } = &mut self.players[player];
                *is_here = !*is_here;
                match *is_here {
                    true => table.join(*id, name).await,
                    false => table.order(Command::Leave(*id)).await,
                }
            }
            Event::StoreFails => {
                let (store, away) = (Arc::clone(&run.store), ms(self.rng.random_range(0..6_000)));
                store.set_away(true);
                tokio::spawn(async move {
                    sleep(away).await;
                    store.set_away(false);
                });
            }
            Event::CatchUp => {
                self.read(&mut table.told);
                let told: Vec<usize> = (0..self.spoken.len())
                    .filter(|at| !self.spoken[*at].turns.is_empty())
                    .filter(|at| self.spoken[*at].run == self.runs)
                    .collect();
                if run.handles.sessions.caught_up().await.is_ok() {
                    told.into_iter().for_each(|at| self.spoken[at].is_written = true);
                }
            }
            Event::NextSession | Event::Kill => {}
        }
    }

    /// Someone says a new word to an NPC, mostly to the one with the small window.
    async fn speaks(&mut self, table: &mut Playing, by: usize, aloud: bool) {
        let Player { id, is_here, .. } = self.players[by];
        if !is_here || self.spoken.len() == MOST {
            return;
        }
        let word = Word(self.spoken.len()).said();
        let npc = CAST[usize::from(self.rng.random_bool(0.25))];
        let text = format!("{npc}, what do you know of the {word} in the mill by the river?");
        let (session, run) = (self.sessions, self.runs);
        let spoken =
            Spoken { by, session, run, turns: Vec::new(), is_written: false, is_taken_back: false };
        self.diary.note(&format!("  {}: {text}", self.players[by].name));
        self.spoken.push(spoken);
        self.wire.words.store(self.spoken.len(), Ordering::SeqCst);
        if !(aloud && table.says(id, &text)) {
            table.order(Command::Typed { speaker: id, text }).await;
        }
    }

    fn words(&self, which: impl Fn(&Spoken) -> bool) -> BTreeSet<Word> {
        let all = self.spoken.iter().enumerate();
        all.filter(|(_, spoken)| which(spoken)).map(|(at, _)| Word(at)).collect()
    }

    /// Deletes a player's `words`, as the face does; in the session of an opt-out, or in all.
    fn forget(&self, run: &Run, player: usize, words: BTreeSet<Word>, session: Option<SessionId>) {
        let Player { id, name, .. } = self.players[player];
        let person = PersonId(id.0.to_string());
        run.handles.tools.within(&scope()).withdraw(&person);
        let from = ForgetFrom { owner: scope().owner, session };
        let mut all = self.deletions.all.lock().unwrap();
        let number = all.len();
        let request = memory::Deletion {
            names: vec![name.to_owned()],
            // Identifies the deletion when it is done.
            asker: number.to_string(),
            ..memory::Deletion::of(person.0, from, now())
        };
        all.push(Deletion { request: request.clone(), by: player, words, done: None });
        drop(all);
        let (privacy, deletions) = (run.handles.privacy.clone(), self.deletions.clone());
        let folder = self.folder.path().to_owned();
        tokio::spawn(async move {
            // Failures are retried and reported when done.
            if privacy.forget(request).await.is_ok() {
                deletions.done(number, &folder);
            }
        });
    }

    async fn next_session(&mut self, run: &Run) -> Playing {
        let name = |number: usize| SessionId(format!("discord-{GUILD}-{number}"));
        let before = (self.sessions > 0).then(|| name(self.sessions));
        self.sessions += 1;
        let table = run.open(name(self.sessions), before).await;
        for player in self.players.iter().filter(|it| it.is_here) {
            table.join(player.id, player.name).await;
        }
        let tier = Some(Tier::Deep);
        table.order(Command::SetTier { seat: None, tier, until: None }).await;
        table
    }

    async fn end(&mut self, run: &Run, table: Playing) {
        let done = |it: &&Deletion| it.done.is_some();
        let gone: BTreeSet<Word> = {
            let all = self.deletions.all.lock().unwrap();
            all.iter().filter(done).flat_map(|it| it.words.iter().copied()).collect()
        };
        let (remembered, mut told) = table.stop(&run.handles).await;
        let words = said_in(&remembered).into_iter().chain(answered_in(&remembered));
        let left: Vec<String> = words.filter(|it| gone.contains(it)).map(Word::said).collect();
        assert!(left.is_empty(), "NPCs remember {left:?}");
        self.read(&mut told);
    }

    /// Reads the table's events.
    fn read(&mut self, told: &mut EventReader) {
        while let Some(event) = told.try_recv() {
            match event {
                TableEvent::Line(line) => {
                    for word in said_in(&line.understood) {
                        self.spoken[word.0].turns.push(line.turn);
                    }
                }
                TableEvent::Halted { taken_back } => {
                    let session = self.sessions;
                    for spoken in self.spoken.iter_mut().filter(|it| it.session == session) {
                        spoken.is_taken_back |=
                            spoken.turns.iter().any(|turn| taken_back.contains(turn));
                    }
                }
                TableEvent::Missed(missed) => panic!("{missed} events are lost"),
                TableEvent::Notice(_)
                | TableEvent::Private(_)
                | TableEvent::Said(_)
                | TableEvent::Asked(_)
                | TableEvent::Forgotten(_)
                | TableEvent::Stands(_)
                | TableEvent::Conversed(_)
                | TableEvent::Mark(_)
                | TableEvent::State(_) => {}
            }
        }
    }

    /// Fails if anything holds a deleted word, or lacks another one.
    fn check(&self, log: &str) -> Tally {
        let mut found = self.wire.found.lock().unwrap().clone();
        let mut gone = BTreeSet::new();
        let deletions = self.deletions.all.lock().unwrap();
        let done = |it: &Deletion| it.done.expect("all are done");
        for deletion in deletions.iter() {
            found.extend(self.wire.since(done(deletion).sent, &deletion.words));
            gone.extend(deletion.words.iter().copied());
        }
        found.extend(places(self.folder.path(), &gone));
        let logged = said_in(log).into_iter().chain(answered_in(log));
        found.extend(logged.map(|word| format!("{} is in the log", word.said())));
        assert!(found.is_empty(), "{}", found.join("\n"));
        let may_be_gone =
            |at: usize, by: usize| deletions.iter().any(|it| it.by == by && at < done(it).words);
        let all = self.spoken.iter().enumerate();
        let stay = all.filter(|(_, it)| it.is_written && !it.is_taken_back);
        let stay = stay.filter(|(at, it)| !may_be_gone(*at, it.by));
        let stay: BTreeSet<Word> = stay.map(|(at, _)| Word(at)).collect();
        let there = all_in(self.folder.path());
        let lost: Vec<String> = stay.difference(&there).map(|word| word.said()).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        Tally {
            written: stay.len(),
            forgotten: gone.len(),
            kills: self.kills,
            summaries: self.wire.summaries(),
            late: self.wire.calls("far"),
            approved: self.wire.calls("asks"),
        }
    }
}

/// An evening, and a last start after it.
fn evening(seed: u64, empty: &Path) -> Tally {
    let log = Log::default();
    let _logs = tracing::subscriber::set_default(log.clone());
    let mut evening = Evening::new(seed, empty);
    while evening.left > 0 {
        evening.run();
    }
    evening.run();
    paused::end();
    evening.check(&log.text())
}

#[test]
fn evenings_leave_no_word_of_the_deleted() {
    let empty = tempfile::tempdir().unwrap();
    drop(Sqlite::open(&empty.path().join("memory.db")).unwrap());
    let one = env::var_os("GLYPHOXA_TEST_SEED");
    let one = one.map(|it| it.to_string_lossy().parse::<u64>().expect("a seed is a number"));
    let seeds = match one {
        Some(seed) => seed..seed + 1,
        None => 0..if extent::whole() { 1_000 } else { 30 },
    };
    let mut all = Tally::default();
    for seed in seeds {
        let Tally { written, forgotten, kills, summaries, late, approved } =
            evening(seed, empty.path());
        all.written += written;
        all.forgotten += forgotten;
        all.kills += kills;
        all.summaries += summaries;
        all.late += late;
        all.approved += approved;
    }
    let counts = [all.written, all.forgotten, all.kills, all.summaries, all.late, all.approved];
    assert!(one.is_some() || counts.iter().all(|count| *count > 5), "too little happened: {all:?}");
}
