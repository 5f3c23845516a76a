//! Status of a table, gathered from its parts. Omits words and stage notes.
//!
//! Entry type: [`Overview`]; [`Pause`] is one of the parts.

use tokio::time::Instant;

use super::{
    SeatId,
    music::TableMusic,
    playback::Playback,
    reports::Reports,
    routing::Router,
    seats::Seats,
    speakers::{SpeakerId, Speakers},
    statistics::Counts,
    status::{SceneStatus, SeatStatus, State, Status},
    turns::Turns,
};

/// Reasons why NPCs keep their answers back.
#[derive(Debug, Default)]
pub struct Pause {
    /// Until the game master resumes.
    pub by_dm: bool,
    /// To the end: another table goes on, where they do not wait.
    pub handed_over: bool,
}

impl Pause {
    pub const fn holds(&self) -> bool {
        self.by_dm || self.handed_over
    }
}

pub struct Overview<'t> {
    pub seats: &'t Seats,
    pub turns: &'t Turns,
    pub playback: &'t Playback,
    pub music: &'t TableMusic,
    pub router: &'t Router,
    pub speakers: &'t Speakers,
    pub paused: bool,
    pub card: Option<&'static str>,
}

impl Overview<'_> {
    pub fn state(&self) -> State {
        if self.paused {
            return State::Paused;
        }
        let npc = |seat: SeatId| self.seats[seat].npc.name.clone();
        let audible = self.playback.current().and_then(|turn| self.turns.peek(turn));
        if let Some(turn) = audible {
            return State::Speaking(npc(turn.purpose.seat));
        }
        let awaited = self.turns.all().find(|turn| turn.is_certain());
        awaited.map_or(State::Listening, |turn| State::Thinking(npc(turn.purpose.seat)))
    }

    pub fn status(&self, now: Instant, reports: &Reports) -> Status {
        let scene = &self.router.scene;
        let seats = self.seats.iter().map(|(id, seat)| SeatStatus {
            id,
            name: seat.npc.name.clone(),
            muted: seat.muted,
            present: scene.is_present(id),
            waiting: seat.waiting.len(),
            ceiling: seat.npc.budget_tier,
            override_: self.router.overrides.of(id, now),
            last_selection: seat.last_tier.clone(),
            brain: seat.brain.clone(),
            tts: seat.tts.clone(),
            engine: seat.npc.engine,
            replaced: seat.replaced.clone(),
            other_voice: seat.other_voice.clone(),
            pinned_by: self.router.pins.on(id).map(|by| self.pinned_by(by)).collect(),
            note_turns_left: seat.note.as_ref().map(|note| note.turns),
        });
        let Counts { utterances, answered, silent, errors } = reports.statistics.counts();
        Status {
            state: self.state(),
            card: self.card,
            seats: seats.collect(),
            scene: SceneStatus {
                location: scene.location().map(str::to_owned),
                time_of_day: scene.time_of_day().map(str::to_owned),
                present: scene.present(),
            },
            music: self.music.status(),
            utterances,
            answered,
            silent,
            errors,
            latency: reports.statistics.latencies(),
            spent: reports.spent(),
            unwritten: reports.unwritten(),
        }
    }

    fn pinned_by(&self, player: Option<SpeakerId>) -> String {
        player.map_or("everyone", |player| self.speakers.name(player)).to_owned()
    }
}
