//! States of NPCs and tables for tests. Entry functions: [`seat`], [`status`].

use super::{
    SeatId,
    statistics::Latencies,
    status::{SceneStatus, SeatStatus, State, Status, Unwritten},
};
use crate::{
    domain::{EngineKind, Tier},
    logic::music::MusicStatus,
};

/// An NPC in its initial state.
pub fn seat(name: &str) -> SeatStatus {
    SeatStatus {
        id: SeatId(0),
        name: name.to_owned(),
        muted: false,
        present: true,
        waiting: 0,
        ceiling: Tier::Standard,
        override_: None,
        last_selection: None,
        brain: "scripted".to_owned(),
        tts: "flite".to_owned(),
        engine: EngineKind::Cascaded,
        replaced: None,
        other_voice: None,
        pinned_by: Vec::new(),
        note_turns_left: None,
    }
}

/// A table of these NPCs before any turn.
pub fn status(seats: Vec<SeatStatus>) -> Status {
    let seats = (0..).map(SeatId).zip(seats).map(|(id, seat)| SeatStatus { id, ..seat });
    let seats: Vec<SeatStatus> = seats.collect();
    let here = seats.iter().filter(|seat| seat.present).map(|seat| seat.name.clone());
    Status {
        state: State::Listening,
        card: None,
        scene: SceneStatus { location: None, time_of_day: None, present: here.collect() },
        music: MusicStatus::default(),
        seats,
        utterances: 0,
        answered: 0,
        silent: 0,
        errors: 0,
        latency: Latencies::default(),
        spent: 0.0,
        unwritten: Unwritten::default(),
    }
}
