//! What tables and processes need: writes, cores, memory and paid services, from measured figures
//! (benches/README.md) and listed prices (docs).

use std::time::Duration;

use glyphoxa::measure::{BALANCE_EVERY, LEASE_TTL, renewed_every};
use serde_json::{Value, json};

use super::support::figures::rounded;

/// Between two turns of a talking table, as in `load`.
const TURN: Duration = Duration::from_secs(6);
/// Commits of a turn: its lines; the conversation after the words and after the answer; that it is
/// being answered, and that it was; a paid request to a model, and three sentences to a voice.
pub const LINES: u32 = 1;
pub const KEPT: u32 = 2;
pub const MARKS: u32 = 2;
pub const MONEY: u32 = 4;
/// Statements of each, and of a renewal, beginnings and ends of transactions included.
const STATEMENTS: [(&str, u32); 5] =
    [("renewals", 6), ("lines", 1), ("kept_tables", 4), ("marks", 1), ("money", 8)];
/// Share of the time that players talk, as in `discord`, and NPCs, as in docs/voices.md.
const PLAYERS: f64 = 0.8;
const NPCS: f64 = 15.0 / 240.0;
/// Characters that are said in a second, as in docs/voices.md.
const CHARACTERS: f64 = 15.0;

/// Cells of the row of a table that begins with `row`, after an empty one.
fn cells<'a>(text: &'a str, row: &str) -> Vec<&'a str> {
    let begins = format!("| {row}");
    let line = text.lines().find(|line| line.starts_with(&begins)).expect(row);
    line.split('|').map(str::trim).collect()
}

/// Numbers in a cell.
fn numbers(cell: &str) -> Vec<f64> {
    cell.split([' ', '/', ',']).filter_map(|it| it.parse().ok()).collect()
}

/// A figure of this program in benches/README.md: the `nth` one of a row.
fn figure(of: &str, nth: usize) -> f64 {
    *numbers(cells(include_str!("../README.md"), of)[3]).get(nth).expect(of)
}

/// Needs of a process.
pub struct Costs {
    /// Cores of a talking table.
    cores: f64,
    /// Cores of a table that is heard and spoken for on the process's own machine, beyond that.
    local_cores: f64,
    /// MB of a process without tables, and of each table.
    mb: (f64, f64),
    /// MB of models that hear and speak.
    local_mb: f64,
}

impl Costs {
    /// As measured last.
    pub fn documented() -> Self {
        let idle = figure("resident idle, the whole program", 0);
        let thirty = figure("… resident after 2 and after 10 minutes", 1);
        let hearing = figure("… CPU-s of a minute of one of them talking", 1) / 60.0;
        let voice = "Piper joe: load, ms / first sound, ms / time for a second of sound";
        Self {
            cores: figure("… whose NPCs talk: without music", 0) / 100.0,
            local_cores: hearing * PLAYERS + figure(voice, 2) * NPCS,
            mb: (idle, (thirty - idle) / 30.0),
            local_mb: figure("… load, ms / resident", 2) + figure(voice, 3),
        }
    }

    /// Cores and MB of a process with so many talking tables, with services elsewhere.
    pub fn of(&self, tables: u32) -> (f64, f64) {
        let tables = f64::from(tables);
        (self.cores * tables, self.mb.0 + self.mb.1 * tables)
    }

    /// Cores and MB where Whisper hears and Piper speaks in the process.
    pub fn of_local(&self, tables: u32) -> (f64, f64) {
        let (cores, mb) = self.of(tables);
        (cores + self.local_cores * f64::from(tables), mb + self.local_mb)
    }
}

/// Requests to PostgreSQL a second.
pub struct Writes {
    /// By purpose: commits, and statements.
    by_purpose: Vec<(&'static str, f64, f64)>,
}

impl Writes {
    /// Of so many processes, and of all talking tables.
    pub fn of(nodes: usize, tables: u32) -> Self {
        let turns = f64::from(tables) / TURN.as_secs_f64();
        let renewals = nodes as f64 / renewed_every(LEASE_TTL).as_secs_f64();
        let commits = STATEMENTS.map(|(purpose, statements)| {
            let commits = match purpose {
                "renewals" => renewals,
                "lines" => turns * f64::from(LINES),
                "kept_tables" => turns * f64::from(KEPT),
                "marks" => turns * f64::from(MARKS),
                _ => turns * f64::from(MONEY),
            };
            (purpose, commits, commits * f64::from(statements))
        });
        let looks = nodes as f64 / BALANCE_EVERY.as_secs_f64();
        let by_purpose = commits.into_iter().chain([("looks", 0.0, looks)]).collect();
        Self { by_purpose }
    }

    /// All commits.
    pub fn commits(&self) -> f64 {
        self.by_purpose.iter().map(|(_, commits, _)| commits).sum()
    }

    /// Commits by purpose, and sums.
    pub fn line(&self) -> Value {
        let statements: f64 = self.by_purpose.iter().map(|(_, _, statements)| statements).sum();
        let mut line = json!({
            "commits_per_s": rounded(self.commits()), "statements_per_s": rounded(statements),
        });
        for (purpose, commits, _) in self.by_purpose.iter().filter(|(_, commits, _)| *commits > 0.0)
        {
            line[format!("{purpose}_per_s")] = rounded(*commits);
        }
        line
    }
}

/// An hour of a table with each service, at the prices of the docs.
pub fn table_hours() -> Vec<Value> {
    let (hour, voices) = (3_600.0, include_str!("../../docs/voices.md"));
    let characters = hour * NPCS * CHARACTERS;
    let spoken = ["ElevenLabs, ", "Deepgram, aura-2", "Cartesia, ", "Piper, Kokoro"];
    let mut all: Vec<Value> = spoken
        .into_iter()
        .map(|service| {
            let cells = cells(voices, service);
            let prices = numbers(cells[2]);
            let cost = |price: Option<&f64>| rounded(*price.expect(service) * characters / 1e6);
            json!({
                "case": "table_hour", "service": cells[1].replace('`', ""), "for": "voices",
                "prices_of": "docs/voices.md", "characters": rounded(characters),
                "dollars": cost(prices.first()), "dollars_at_most": cost(prices.last()),
            })
        })
        .collect();
    let minutes = 60.0 * PLAYERS;
    let money = include_str!("../../docs/money.md");
    let minute = money.split("YOUR-TRANSCRIPTION-MODEL: { minute: ").nth(1).expect("its price");
    let minute: f64 = minute.split(' ').next().and_then(|it| it.parse().ok()).expect("a number");
    all.push(json!({
        "case": "table_hour", "service": "YOUR-TRANSCRIPTION-MODEL", "for": "hearing",
        "prices_of": "the example of docs/money.md", "minutes": rounded(minutes),
        "dollars": rounded(minute * minutes), "dollars_at_most": rounded(minute * minutes),
    }));
    all
}
