//! Records what was said. Entry type: [`TranscriptWriter`]. **Never**: records who
//! has played the X-card.

mod deletions;
mod spill;
mod task;
#[cfg(test)]
mod tests;
mod writer;

pub use deletions::DeletionFiles;
pub use spill::waits as lines_wait;
pub use task::TranscriptOptions;
pub use writer::{NotWritten, TranscriptWriter};

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    domain::{Scope, SessionId},
    memory::{Asked, Present, Uid, Utterance, Visibility},
    session::{Outcome, SpeakerId, ToolLine, TurnLine},
};

/// A session being recorded.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Owner and campaign; only people of a guild have lasting ids.
    pub scope: Scope,
    pub session: SessionId,
}

/// A player's words and an NPC's answer, if any; `now` is Unix time in ms.
pub fn utterances(of: &Transcript, line: &TurnLine, now: i64) -> Vec<Utterance> {
    let Some(from) = line.from else { return Vec::new() };
    let told = &line.circumstances;
    let identity = |id: SpeakerId, name: &str| of.scope.owner.person(id.0, name).0;
    let npcs = told.npcs.iter().map(|name| Present { name: name.clone(), player: None });
    let people = told
        .people
        .iter()
        .map(|(id, name)| Present { name: name.clone(), player: Some(identity(*id, name)) });
    let common = Utterance {
        session: of.session.0.clone(),
        turn: line.turn,
        npc: line.npc.clone(),
        present: npcs.chain(people).collect(),
        outcome: name(line.outcome),
        visibility: match line.outcome {
            Outcome::Command => Visibility::Dm,
            _ => Visibility::Everyone,
        },
        ..Utterance::default()
    };
    let (by, said_at) = (identity(from, &line.speaker), before(now, told.said_at, told.said_for));
    let mut all = Vec::new();
    // Without `understood` the NPC speaks by itself, or in the game master's words.
    if !line.understood.is_empty() {
        let calls: Vec<ToolLine> = line.tools.iter().map(ToolLine::kept).collect();
        let calls = serde_json::to_value(calls).unwrap_or_default();
        all.push(Utterance {
            uid: uid(),
            at: said_at,
            duration: millis(told.said_for),
            speaker_id: Some(by.clone()),
            speaker: line.speaker.clone(),
            character: told.character.clone(),
            text: line.understood.clone(),
            raw: Some(told.raw.clone()).filter(|raw| !raw.is_empty() && *raw != line.understood),
            tools: Some(calls).filter(|_| !line.tools.is_empty()).unwrap_or_default(),
            ..common.clone()
        });
    }
    if let Some(npc) = line.npc.as_ref().filter(|_| !line.reply.is_empty()) {
        let spoken = Duration::from_millis(line.audio_ms);
        all.push(Utterance {
            uid: uid(),
            at: before(now, told.answered_at, Duration::ZERO),
            duration: millis(spoken),
            speaker: npc.clone(),
            text: line.reply.clone(),
            // Calls belong to the words that led to them.
            asked: Some(Asked { by, at: said_at }),
            ..common
        });
    }
    all
}

fn uid() -> Uid {
    Uid(format!("{:032x}", rand::random::<u128>()))
}

/// Start (Unix time in ms) of something that ended at `end` and lasted `length`. Recordings' clocks
/// may run ahead: an `end` in the future counts as now.
fn before(now: i64, end: Option<Instant>, length: Duration) -> i64 {
    let ago = end.map_or(Duration::ZERO, |end| Instant::now().saturating_duration_since(end));
    now.saturating_sub_unsigned(millis(ago + length))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn name(outcome: Outcome) -> String {
    let name = serde_json::to_value(outcome).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}
