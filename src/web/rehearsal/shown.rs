//! Events of a table, shown on its pages while it runs. Entry function: [`show`].
//!
//! Events become messages to every page. A turn is named by the number under which its sound
//! comes, in its line too. Pages remove what an X-card or a deletion takes back; these are counted,
//! so that a page that missed one knows.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    cards,
    table::{RehearsalTable, TableNews},
    wire::{FileMistake, MusicCard, NpcCard, SceneCard, ToPage, TurnState},
};
use crate::{
    campaign::Mistake,
    domain::redact,
    session::{LiveEvent, TableEvent, TurnLine, TurnStage, UnderstoodLine},
};

/// Names of players whose last utterance is known.
const NAMES_MAX: usize = 64;

struct Shown {
    table: Arc<RehearsalTable>,
    /// Number of the last utterance.
    said: u64,
    /// The last utterance of each player: when it began, and its number.
    latest: HashMap<String, (Instant, u64)>,
    npcs: Vec<NpcCard>,
    scene: SceneCard,
    music: MusicCard,
    is_carded: bool,
}

/// Shows what the table tells until it is gone.
pub async fn show(table: Arc<RehearsalTable>, told: TableNews) {
    let TableNews { mut events, mut live } = told;
    let mut mistakes = table.mistakes.follow();
    let mut shown = Shown {
        table,
        said: 0,
        latest: HashMap::new(),
        npcs: Vec::new(),
        scene: SceneCard::default(),
        music: MusicCard::default(),
        is_carded: false,
    };
    loop {
        tokio::select! {
            biased;
            // Partial words come before the whole utterance.
            Some(event) = live.recv() => shown.tell(&changed(event)),
            event = events.recv() => match event {
                Some(event) => shown.take(event).await,
                None => return,
            },
            Ok(()) = mistakes.changed() => {
                let files = mistakes.borrow_and_update().iter().map(in_file).collect();
                shown.tell(&ToPage::Mistakes { files });
            }
            () = shown.table.changed.notified() => shown.tell_npcs().await,
        }
    }
}

/// A mistake as pages show it.
pub fn in_file(mistake: &Mistake) -> FileMistake {
    let Mistake { file, line, text } = mistake;
    FileMistake { file: file.clone(), line: *line, text: redact::known(text).into_owned() }
}

/// Text without credentials, as every other shown text.
pub fn notice(text: &str, private: bool) -> ToPage {
    ToPage::Notice { text: redact::known(text).into_owned(), private }
}

impl Shown {
    fn tell(&self, event: &ToPage) {
        self.table.audience.tell(event);
    }

    async fn take(&mut self, event: TableEvent) {
        match event {
            TableEvent::Line(line) => {
                if let Some(turn) = line.circumstances.turn {
                    self.table.told(turn.0, line.turn);
                }
                self.tell(&ToPage::Line { number: line.turn, line: as_json(&line) });
                // Spoken orders change NPCs too, and changed files once an NPC is free.
                self.tell_npcs().await;
            }
            TableEvent::Said(said) => {
                let id = self.number(&said);
                let (player, text) = (said.speaker.clone(), said.text.clone());
                self.tell(&ToPage::Said { player, text, id });
            }
            TableEvent::Notice(text) => {
                self.tell(&notice(&text, false));
                self.tell_npcs().await;
            }
            TableEvent::Private(text) => self.tell(&notice(&text, true)),
            TableEvent::Halted { taken_back: lines } => {
                let removals = self.table.count_removal();
                self.tell(&ToPage::TakenBack { lines, removals });
                self.card(true);
            }
            TableEvent::Forgotten(person) => {
                let removals = self.table.count_removal();
                // People of this machine are known by their names.
                self.tell(&ToPage::Forgotten { player: person.0, removals });
            }
            TableEvent::Stands(continuation) => {
                self.card(!continuation.carded.is_empty());
                self.tell_npcs().await;
            }
            TableEvent::Missed(missed) => {
                // One may have been an X-card or a deletion.
                self.tell(&ToPage::Cleared { removals: self.table.count_removal() });
                self.tell(&notice(&format!("{missed} events of the table were skipped"), true));
            }
            TableEvent::Asked(_)
            | TableEvent::State(_)
            | TableEvent::Conversed(_)
            | TableEvent::Mark(_) => {}
        }
    }

    /// Number of an utterance; one that goes on keeps its number.
    fn number(&mut self, said: &UnderstoodLine) -> u64 {
        if let Some((began, number)) = self.latest.get(&said.speaker)
            && *began == said.began
        {
            return *number;
        }
        self.said += 1;
        if self.latest.len() >= NAMES_MAX {
            // Players may rename themselves forever.
            self.latest.clear();
        }
        self.latest.insert(said.speaker.clone(), (said.began, self.said));
        self.said
    }

    fn card(&mut self, on: bool) {
        if std::mem::replace(&mut self.is_carded, on) != on {
            self.tell(&ToPage::Card { on });
        }
    }

    /// Shows NPCs, scene and music if one has changed.
    async fn tell_npcs(&mut self) {
        let Some(status) = self.table.status().await else { return };
        let (npcs, scene) = (cards::npcs(&status, &self.table.link.cast()), cards::scene(&status));
        let music = cards::music(&status);
        if (&npcs, &scene, &music) != (&self.npcs, &self.scene, &self.music) {
            self.npcs.clone_from(&npcs);
            self.scene.clone_from(&scene);
            self.music.clone_from(&music);
            self.tell(&ToPage::Npcs { npcs, scene, music });
        }
    }
}

fn changed(event: LiveEvent) -> ToPage {
    match event {
        LiveEvent::Partial { speaker, text } => ToPage::Partial { player: speaker, text },
        LiveEvent::Turn { turn, npc, stage } => {
            let state = match stage {
                TurnStage::Thinking => TurnState::Thinking,
                TurnStage::Speaking => TurnState::Speaking,
                TurnStage::Idle => TurnState::Idle,
            };
            ToPage::Turn { turn: turn.0, state, npc: Some(npc) }
        }
    }
}

/// A line as `ask --json` prints it, without credentials. Its turn is that of its sound; `null`: no
/// NPC answered.
fn as_json(line: &TurnLine) -> Value {
    let value = serde_json::to_value(line).unwrap_or_default();
    let mut value = redact::json(&value);
    if let Value::Object(members) = &mut value {
        let turn = line.circumstances.turn.map(|turn| turn.0);
        members.insert("turn".to_owned(), json!(turn));
    }
    value
}
