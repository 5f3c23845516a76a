//! The files of an export that a program reads back: one JSON object a line.
//!
//! Entry functions: [`texts`], [`read_texts`]; entry types: [`Manifest`], [`Folder`]. An export
//! may come from others: its size is known before it is taken apart, and each fault has its file and line.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::held::ScopeContent;
use crate::{
    domain::{Scope, json_values},
    import::Mistake,
    memory::Error,
};

/// Says that a folder is an export, of what, and how much; written last.
pub const MANIFEST: &str = "glyphoxa-export.json";
/// Calls of tools, in all sessions.
const CALLS: &str = "calls.jsonl";
const SESSIONS: &str = "store/sessions.jsonl";
const LINES: &str = "store/lines.jsonl";
const FACTS: &str = "store/facts.jsonl";
const ENTITIES: &str = "store/entities.jsonl";
const RELATIONS: &str = "store/relations.jsonl";
const RUNS: &str = "store/runs.jsonl";
const SCHEDULES: &str = "store/schedules.jsonl";
/// The files that [`read_texts`] reads.
pub const FILES: [&str; 8] = [SESSIONS, LINES, FACTS, ENTITIES, RELATIONS, RUNS, SCHEDULES, CALLS];

/// In the manifest, so that another program's folder is never taken for one.
const FORMAT: &str = "glyphoxa-export";
const VERSION: u32 = 1;
/// Most values in all files together; a value in memory is much larger than in its file.
const VALUES_MAX: usize = 20_000_000;
/// Most faults shown of a file.
const FAULTS_MAX: usize = 5;

/// Scope and size of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    version: u32,
    /// The version of the program.
    #[serde(default)]
    glyphoxa: String,
    /// Owner and campaign.
    pub scope: Scope,
    /// Entries of each file, so that half a copy is noticed.
    entries: BTreeMap<String, usize>,
}

impl Manifest {
    pub fn of(scope: Scope, texts: &BTreeMap<&'static str, String>) -> Self {
        let count = |text: &String| text.lines().count();
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            glyphoxa: env!("CARGO_PKG_VERSION").to_owned(),
            scope,
            entries: texts.iter().map(|(name, text)| ((*name).to_owned(), count(text))).collect(),
        }
    }

    pub fn text(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The manifest in `bytes`.
    pub fn read(bytes: &[u8]) -> Result<Self, Mistake> {
        let foreign = || {
            let way_out = "export again, or copy the whole folder";
            mistake(MANIFEST, "", "this is no manifest of an export".to_owned(), way_out)
        };
        let manifest: Self = serde_json::from_slice(bytes).map_err(|_| foreign())?;
        let found = manifest.version;
        if manifest.format != FORMAT || manifest.scope.campaign.0.is_empty() {
            return Err(foreign());
        }
        if found > VERSION {
            let message = format!("an export of version {found}, and this program knows {VERSION}");
            return Err(mistake(MANIFEST, "", message, "update glyphoxa"));
        }
        Ok(manifest)
    }
}

/// Content of an export's files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folder {
    pub held: ScopeContent,
    /// Calls of tools, by session, each a line of its log.
    pub calls: BTreeMap<String, Vec<String>>,
}

/// The files of `folder` by name.
pub fn texts(folder: &Folder) -> Result<BTreeMap<&'static str, String>, Error> {
    let Folder { held, calls } = folder;
    let calls: String = calls.values().flatten().map(|call| format!("{call}\n")).collect();
    Ok(BTreeMap::from([
        (SESSIONS, lines(&held.sessions)?),
        (LINES, lines(&held.lines)?),
        (FACTS, lines(&held.items)?),
        (ENTITIES, lines(&held.entities)?),
        (RELATIONS, lines(&held.relations)?),
        (RUNS, lines(&held.runs)?),
        (SCHEDULES, lines(&held.schedules)?),
        (CALLS, calls),
    ]))
}

fn lines<T: Serialize>(all: &[T]) -> Result<String, Error> {
    let line = |it: &T| serde_json::to_string(it).map(|text| text + "\n");
    let text: Result<String, _> = all.iter().map(line).collect();
    text.map_err(|error| Error::Failed(error.to_string()))
}

/// Content of an export's files, by name as [`texts`] gives them.
pub fn read_texts(
    manifest: &Manifest,
    texts: &BTreeMap<&'static str, Vec<u8>>,
) -> Result<Folder, Vec<Mistake>> {
    let values: usize = texts.values().map(|bytes| json_values(bytes)).sum();
    if values > VALUES_MAX {
        let message = format!("more than {VALUES_MAX} values");
        return Err(vec![mistake(MANIFEST, "", message, "is this the right folder?")]);
    }
    let mut reading = Reading { manifest, texts, mistakes: Vec::new() };
    let held = ScopeContent {
        sessions: reading.file(SESSIONS),
        lines: reading.file(LINES),
        items: reading.file(FACTS),
        entities: reading.file(ENTITIES),
        relations: reading.file(RELATIONS),
        runs: reading.file(RUNS),
        schedules: reading.file(SCHEDULES),
    };
    let mut calls: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for call in reading.file::<serde_json::Map<String, serde_json::Value>>(CALLS) {
        let session = call.get("session").and_then(|it| it.as_str()).unwrap_or_default();
        let session = session.to_owned();
        let text = serde_json::Value::Object(call).to_string();
        calls.entry(session).or_default().push(text);
    }
    let sessions: BTreeSet<&str> = held.sessions.iter().map(|it| it.id.as_str()).collect();
    let unknown = calls.keys().filter(|id| !sessions.contains(id.as_str()));
    for session in unknown.take(FAULTS_MAX) {
        let message = format!("a call of the session '{session}', which is not in the export");
        reading.mistakes.push(mistake(CALLS, "", message, "remove the line"));
    }
    if reading.mistakes.is_empty() { Ok(Folder { held, calls }) } else { Err(reading.mistakes) }
}

struct Reading<'a> {
    manifest: &'a Manifest,
    texts: &'a BTreeMap<&'static str, Vec<u8>>,
    mistakes: Vec<Mistake>,
}

impl Reading<'_> {
    /// The entries of a file; faults become mistakes.
    fn file<T: DeserializeOwned>(&mut self, name: &'static str) -> Vec<T> {
        let bytes = self.texts.get(name).map(Vec::as_slice).unwrap_or_default();
        let (mut all, mut faults) = (Vec::new(), 0);
        let lines = bytes.split(|byte| *byte == b'\n').zip(1_usize..);
        for (line, number) in lines.filter(|(line, _)| !line.trim_ascii().is_empty()) {
            match serde_json::from_slice(line) {
                Ok(entry) => all.push(entry),
                Err(error) => {
                    faults += 1;
                    if faults <= FAULTS_MAX {
                        let place = format!("line {number}");
                        let message = format!("invalid entry: {error}");
                        self.mistakes.push(mistake(name, &place, message, "export again"));
                    }
                }
            }
        }
        let expected = self.manifest.entries.get(name).copied().unwrap_or_default();
        if faults == 0 && all.len() != expected {
            let message = format!("the number of entries is {}, not {expected}", all.len());
            let way_out = "copy the whole folder, or export again";
            self.mistakes.push(mistake(name, "", message, way_out));
        }
        all
    }
}

fn mistake(file: &str, place: &str, message: String, way_out: &str) -> Mistake {
    Mistake { file: file.to_owned(), place: place.to_owned(), message, way_out: way_out.to_owned() }
}
