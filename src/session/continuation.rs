//! State of a table that may be opened again, here or by another process. Holds nothing that was
//! said at the table, but the game master's notes for NPCs in their words.
//!
//! Entry type: [`Continuation`]. NPCs are given by name, times as Unix time in ms.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    Seat, SeatId, SpeakerId, clock::Clocks, routing::Router, seat::Note, seats::Seats,
    speakers::Speakers,
};
use crate::domain::{PersonId, Tier};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Continuation {
    pub muted: Vec<String>,
    /// Muted NPCs that an X-card silenced.
    pub carded: Vec<String>,
    pub location: Option<String>,
    pub time_of_day: Option<String>,
    pub present: Vec<String>,
    pub absent: Vec<String>,
    pub paused: bool,
    pub tiers: Vec<KeptTier>,
    /// Tiers of NPCs' next turns.
    pub next_tiers: BTreeMap<String, Tier>,
    pub notes: Vec<KeptNote>,
    pub pins: Vec<KeptPin>,
    /// `None`: as the scene has it.
    pub music: Option<KeptMusic>,
}

/// A tier that the game master has set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptTier {
    /// `None`: all NPCs.
    pub npc: Option<String>,
    pub tier: Tier,
    /// `None`: until removed.
    pub until: Option<i64>,
}

/// A stage note, in the game master's words.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptNote {
    pub npc: String,
    pub text: String,
    /// Remaining turns; `None`: until replaced.
    pub turns: Option<u32>,
    /// People whom it names.
    pub about: Vec<PersonId>,
}

/// Omits the text, which only its NPC may know.
impl fmt::Debug for KeptNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptNote")
            .field("npc", &self.npc)
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPin {
    /// `None`: everyone without a pin.
    pub player: Option<Pinned>,
    pub npc: String,
}

/// A person whose words go to one NPC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    pub speaker: SpeakerId,
    pub person: PersonId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptMusic {
    /// In percent, 0 to 100.
    pub volume: u8,
    /// Music and ambience, without effects.
    pub playing: Vec<KeptTrack>,
    /// Time of the positions; `None`: nothing plays, or the table had no wall clock.
    pub at: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptTrack {
    pub title: String,
    /// Position in ms, with all rounds of a loop.
    pub ms: u64,
}

/// Parts of a table that a [`Continuation`] records.
pub(super) struct RecordedTable<'t> {
    pub seats: &'t Seats,
    pub router: &'t Router,
    pub speakers: &'t Speakers,
    /// Seats that an X-card silenced.
    pub carded: &'t [SeatId],
    pub clocks: Clocks,
}

impl RecordedTable<'_> {
    fn npc(&self, seat: SeatId) -> String {
        self.seats[seat].npc.name.clone()
    }

    fn tiers(&self) -> Vec<KeptTier> {
        let kept = |(seat, tier, until): (Option<SeatId>, Tier, Option<Instant>)| {
            let npc = seat.map(|seat| self.npc(seat));
            let until = until.map(|until| self.clocks.unix_of(until));
            // One that can't be timed would never end.
            (until != Some(None)).then(|| KeptTier { npc, tier, until: until.flatten() })
        };
        self.router.overrides.lasting().filter_map(kept).collect()
    }

    fn notes(&self) -> Vec<KeptNote> {
        let kept = |(_, seat): (SeatId, &Seat)| {
            let note = seat.note.as_ref()?;
            Some(KeptNote {
                npc: seat.npc.name.clone(),
                text: note.text.to_string(),
                turns: note.turns,
                about: self.speakers.named_in(&note.text),
            })
        };
        self.seats.iter().filter_map(kept).collect()
    }

    fn pins(&self) -> Vec<KeptPin> {
        let pinned = |speaker| Pinned { speaker, person: self.speakers.person(speaker) };
        let pins = self.router.pins.all();
        pins.map(|(player, seat)| KeptPin { player: player.map(pinned), npc: self.npc(seat) })
            .collect()
    }
}

impl Continuation {
    /// Records the state, without pause and music.
    pub(super) fn of(table: &RecordedTable<'_>) -> Self {
        let scene = &table.router.scene;
        let (mut muted, mut absent) = (Vec::new(), Vec::new());
        let mut by_card = Vec::new();
        for (id, seat) in table.seats.iter() {
            let is_carded = seat.muted && table.carded.contains(&id);
            by_card.extend(is_carded.then(|| seat.npc.name.clone()));
            muted.extend(seat.muted.then(|| seat.npc.name.clone()));
            absent.extend((!scene.is_present(id)).then(|| seat.npc.name.clone()));
        }
        let next = table.router.overrides.next_turns();
        Self {
            muted,
            carded: by_card,
            location: scene.location().map(str::to_owned),
            time_of_day: scene.time_of_day().map(str::to_owned),
            present: scene.present(),
            absent,
            tiers: table.tiers(),
            next_tiers: next.map(|(seat, tier)| (table.npc(seat), tier)).collect(),
            notes: table.notes(),
            pins: table.pins(),
            ..Self::default()
        }
    }

    pub fn end_card(&mut self) {
        let carded = std::mem::take(&mut self.carded);
        self.muted.retain(|name| !carded.contains(name));
    }

    /// Number of notes that name `person`, and of their pins.
    pub fn entries_of(&self, person: &PersonId) -> usize {
        let notes = self.notes.iter().filter(|note| note.about.contains(person));
        notes.count() + self.pins.iter().filter(|pin| pin.is_of(person)).count()
    }

    /// Forgets notes that name `person`, and their pins.
    pub fn forget(&mut self, person: &PersonId) {
        self.notes.retain(|note| !note.about.contains(person));
        self.pins.retain(|pin| !pin.is_of(person));
    }

    /// Applies this, but for pause and music; NPCs that it does not name are unchanged. Returns the
    /// seats that an X-card silenced.
    pub(super) fn restore(
        &self,
        seats: &mut Seats,
        router: &mut Router,
        clocks: Clocks,
    ) -> Vec<SeatId> {
        let scene = &mut router.scene;
        scene.return_to(self.location.clone(), self.time_of_day.clone());
        for (id, seat) in seats.iter_mut() {
            let name = &seat.npc.name;
            seat.muted = self.muted.contains(name);
            if self.present.contains(name) || self.absent.contains(name) {
                scene.place(id, self.present.contains(name));
            }
        }
        self.restore_orders(seats, router, clocks);
        let is_carded = |(id, seat): (SeatId, &Seat)| {
            (seat.muted && self.carded.contains(&seat.npc.name)).then_some(id)
        };
        seats.iter().filter_map(is_carded).collect()
    }

    /// Applies notes, tiers and pins.
    fn restore_orders(&self, seats: &mut Seats, router: &mut Router, clocks: Clocks) {
        for note in &self.notes {
            if let Some(seat) = seats.of_npc(&note.npc) {
                seats[seat].note = Note::new(&note.text, note.turns);
            }
        }
        for KeptTier { npc, tier, until } in &self.tiers {
            let seat = npc.as_deref().and_then(|npc| seats.of_npc(npc));
            let until = until.map(|until| clocks.to_come(until));
            if seat.is_some() == npc.is_some() && until != Some(None) {
                router.overrides.set(seat, Some(*tier), until.flatten());
            }
        }
        for (npc, tier) in &self.next_tiers {
            if let Some(seat) = seats.of_npc(npc) {
                router.overrides.set_next(seat, *tier);
            }
        }
        for KeptPin { player, npc } in &self.pins {
            if let Some(seat) = seats.of_npc(npc) {
                router.pins.set(player.as_ref().map(|it| it.speaker), Some(seat));
            }
        }
    }
}

impl KeptPin {
    fn is_of(&self, person: &PersonId) -> bool {
        self.player.as_ref().is_some_and(|it| it.person == *person)
    }
}
