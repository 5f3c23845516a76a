//! Requests to a store, and how long they take.

use std::{cell::Cell, future::Future, hint::black_box, time::Instant};

use glyphoxa::measure::{Around, LineQuery, VectorQuery, Viewer};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use super::{
    corpus::{DIMENSION, Lines, MODEL, NPCS, Vocabulary, vector},
    recall,
    stores::{Disk, Engine, Filled, Meter, Place, of},
    support::figures::{Figures, goal, ms, rounded},
};

/// Ranks of ordinary words.
const ORDINARY: std::ops::Range<usize> = 30..3_000;
/// Ranks of the commonest.
const COMMONEST: std::ops::Range<usize> = 0..10;
/// Neighbours that the program asks for.
const NEAR: usize = 100;
/// Hits that are asked for.
const HITS: usize = 10;

/// Time of a flush on a disk that does not keep it to itself, in ms. Where it takes next to nothing, what an
/// append adds is most of it, and is read against this one.
const FLUSH: f64 = 4.0;

/// Some 2 ms of work that needs no store: its slow end is the machine's.
fn arithmetic() {
    _ = black_box((0..300_000_u64).fold(7, |sum, n| black_box(sum * 31 % 1_000_003 + n)));
}

/// Everything of one store.
pub struct Bench<'a> {
    /// Engine of the store.
    pub engine: Engine,
    /// Filled.
    pub filled: &'a Filled,
    /// Location of the store.
    pub place: &'a Place,
    /// Words of its lines.
    pub words: &'a Vocabulary,
    /// Number of runs of each query.
    pub n: usize,
}

/// Wall and CPU times of one case, in ms.
pub struct Times {
    /// By the clock.
    pub wall: Figures,
    /// Of this process, and of the server where it is one here.
    cpu: Figures,
    /// Of [`arithmetic`], by the clock.
    floor: Figures,
}

impl Bench<'_> {
    /// Every case; the goals.
    pub async fn all(&self, only: &[String]) -> Vec<Value> {
        let wants = |case: &str| only.is_empty() || only.iter().any(|it| it == case);
        let mut goals = Vec::new();
        if wants("append") {
            goals.push(self.append().await);
        }
        if wants("search") {
            goals.extend(self.searches().await);
        }
        if wants("recall") {
            goals.push(recall::measure(self).await);
        }
        if wants("graph") {
            goals.push(self.graph().await);
        }
        if wants("nearest") {
            goals.push(self.nearest().await);
        }
        goals
    }

    /// Runs `act` some times before those that count, and arithmetic between them.
    pub async fn time<F: Future<Output = ()>>(&self, mut act: impl FnMut(usize) -> F) -> Times {
        let warm_up = self.n / 10 + 1;
        for nth in 0..warm_up {
            act(nth).await;
        }
        let meter = Meter::of(self.engine, self.filled.lines).await;
        let (mut wall, mut used, mut floor) = (Vec::new(), Vec::new(), Vec::new());
        for nth in warm_up..self.n + warm_up {
            let before = meter.read();
            let began = Instant::now();
            act(nth).await;
            wall.push(ms(began.elapsed()));
            used.push(ms(meter.read().saturating_sub(before)));
            let began = Instant::now();
            tokio::task::spawn_blocking(arithmetic).await.expect("it ends");
            floor.push(ms(began.elapsed()));
        }
        Times { wall: Figures::new(wall), cpu: Figures::new(used), floor: Figures::new(floor) }
    }

    /// A line of figures.
    pub fn print(&self, case: &str, times: &Times, more: Value) {
        let mut line = times.wall.line(case);
        for percent in [50, 99] {
            line[format!("cpu_p{percent}_ms")] = rounded(times.cpu.at(percent));
            line[format!("floor_p{percent}_ms")] = rounded(times.floor.at(percent));
        }
        if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
            line.extend(more);
        }
        super::print(&of(self.engine, self.filled.lines, line));
    }

    /// Verdict on a goal.
    fn goal(&self, what: &str, value: f64, at_most: f64) -> Value {
        goal(&format!("{} at {}: {what}", self.engine.name(), self.filled.lines), value, at_most)
    }

    /// Verdict on the slowest of some cases: by the clock, and by the CPU time it took, which is what
    /// is left of it on a machine that does nothing else.
    pub fn p99(&self, what: &str, cases: &[Times], at_most: f64) -> Value {
        let slowest = |of: fn(&Times) -> &Figures| {
            cases.iter().map(|times| of(times).at(99)).fold(f64::NAN, f64::max)
        };
        let mut goal = self.goal(what, slowest(|times| &times.wall), at_most);
        let cpu = slowest(|times| &times.cpu);
        goal["cpu"] = rounded(cpu);
        goal["relative"] = (cpu <= at_most).into();
        goal
    }

    /// One utterance a time, in turns with the bare disk.
    async fn append(&self) -> Value {
        let mut disk = Disk::new(self.place.folder());
        let there = self.filled.store.counts(&self.filled.scope).await.expect("counts").lines;
        let mut lines = Lines::new(self.words, &self.filled.scope.campaign.0, there);
        let (mut wall, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..self.n {
            let began = Instant::now();
            disk.flush();
            bare.push(ms(began.elapsed()));
            let line = lines.next().expect("there is always more");
            let began = Instant::now();
            let written = self.filled.store.append(&self.filled.scope, vec![line]);
            written.await.expect("a line");
            wall.push(ms(began.elapsed()));
        }
        let (wall, bare) = (Figures::new(wall), Figures::new(bare));
        let mut line = wall.line("append");
        bare.add_to(&mut line, "bare_");
        super::print(&of(self.engine, self.filled.lines, line));
        let mut goal = self.goal("append, of a bare flush at p50", wall.at(50) / bare.at(50), 1.2);
        let added = wall.at(50) - bare.at(50);
        goal["added_ms"] = rounded(added);
        goal["relative"] = (added <= 0.2 * FLUSH).into();
        goal
    }

    /// Ranked search; of ordinary words, and of questions with the commonest ones.
    async fn searches(&self) -> Vec<Value> {
        let mut goals = Vec::new();
        let npc = Viewer::Npc { name: NPCS[0].to_owned(), knows: Vec::new() };
        for (whose, viewer) in [("dm", Viewer::Dm), ("npc", npc)] {
            for (case, at_most) in [("ordinary", 20.0), ("common", 50.0), ("mixed", 50.0)] {
                let mut slowest = Vec::new();
                for count in 1..=4 {
                    let (times, found) = self.search(case, count, &viewer).await;
                    let name = format!("search_{case}_{count}_{whose}");
                    self.print(&name, &times, json!({ "found": found }));
                    slowest.push(times);
                }
                let what = format!("{case} words, seen by {whose}, in ms, p99");
                goals.push(self.p99(&what, &slowest, at_most));
            }
        }
        goals
    }

    /// Questions of `count` words; how many hits they have on average.
    async fn search(&self, case: &str, count: usize, viewer: &Viewer) -> (Times, f64) {
        let mut dice = StdRng::seed_from_u64(17 + count as u64);
        let found = Cell::new(0);
        let times = self
            .time(|_| {
                let mut asked: Vec<&str> = Vec::new();
                while asked.len() < count {
                    let ranks = match case {
                        "ordinary" => ORDINARY,
                        "common" => COMMONEST,
                        _ if asked.is_empty() => COMMONEST,
                        _ => ORDINARY,
                    };
                    let word = self.words.at(dice.random_range(ranks));
                    if !asked.contains(&word) {
                        asked.push(word);
                    }
                }
                let query =
                    LineQuery { text: asked.join(" "), limit: HITS, ..LineQuery::default() };
                let found = &found;
                async move {
                    let hits = self.filled.store.search(&self.filled.scope, query, viewer.clone());
                    found.set(found.get() + hits.await.expect("hits").len());
                }
            })
            .await;
        (times, found.get() as f64 / (self.n + self.n / 10 + 1) as f64)
    }

    /// Three relations around an entity.
    async fn graph(&self) -> Value {
        let mut dice = StdRng::seed_from_u64(23);
        let npc = Viewer::Npc { name: NPCS[0].to_owned(), knows: Vec::new() };
        let mut slowest = Vec::new();
        for (whose, viewer) in [("dm", Viewer::Dm), ("npc", npc)] {
            for (case, limit) in [("graph", NEAR), ("graph_whole", 0)] {
                let viewer = &viewer;
                let found = Cell::new(0);
                let times = self
                    .time(|_| {
                        let ids =
                            vec![format!("e{}", dice.random_range(0..self.filled.world.entities))];
                        let around = Around { ids, depth: 3, limit };
                        let found = &found;
                        async move {
                            let near = self.filled.store.neighbours(
                                &self.filled.scope,
                                around,
                                viewer.clone(),
                            );
                            found.set(found.get() + near.await.expect("neighbours").len());
                        }
                    })
                    .await;
                let found = found.get() as f64 / (self.n + self.n / 10 + 1) as f64;
                self.print(&format!("{case}_{whose}"), &times, json!({ "found": rounded(found) }));
                if limit > 0 {
                    slowest.push(times);
                }
            }
        }
        self.p99("neighbourhood of depth 3, 100 of it, in ms, p99", &slowest, 5.0)
    }

    /// The nearest of five thousand chunks.
    async fn nearest(&self) -> Value {
        let npc = Viewer::Npc { name: NPCS[0].to_owned(), knows: Vec::new() };
        let mut slowest = Vec::new();
        for (whose, viewer) in [("dm", Viewer::Dm), ("npc", npc)] {
            let viewer = &viewer;
            let times = self
                .time(|nth| async move {
                    let values = vector(1_000_000 + nth as u64);
                    assert_eq!(values.len(), DIMENSION);
                    let model = MODEL.to_owned();
                    let query = VectorQuery { model, values, kinds: Vec::new(), limit: HITS };
                    let near = self.filled.store.nearest(&self.filled.scope, query, viewer.clone());
                    assert_eq!(near.await.expect("items").len(), HITS);
                })
                .await;
            self.print(&format!("nearest_{whose}"), &times, json!({}));
            slowest.push(times);
        }
        self.p99("nearest of 5,000 in ms, p99", &slowest, 5.0)
    }
}
