//! NPCs and tables to show, for tests.

use crate::{
    domain::{EngineKind, Tier},
    session::{Latencies, SceneStatus, SeatId, SeatStatus, State, Status, Unwritten},
};

/// An NPC that nothing was done to.
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
        pinned_by: Vec::new(),
        note_turns_left: None,
    }
}

/// A table of these NPCs at which nothing was said.
pub fn status(seats: Vec<SeatStatus>) -> Status {
    let seats = (0..).map(SeatId).zip(seats).map(|(id, seat)| SeatStatus { id, ..seat });
    let seats: Vec<SeatStatus> = seats.collect();
    let here = seats.iter().filter(|seat| seat.present).map(|seat| seat.name.clone());
    Status {
        state: State::Listening,
        scene: SceneStatus { location: None, time_of_day: None, present: here.collect() },
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
