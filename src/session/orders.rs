//! What the game master orders by voice.

use tokio::time::Instant;

use super::{SeatId, SpeakerId, command::SceneChange, table::Table};
use crate::{domain::Tier, logic::command::Command};

impl Table {
    /// Does what was ordered by `speaker`; what was done, for the report.
    pub(super) fn obey(&mut self, speaker: SpeakerId, order: Command) -> String {
        match order {
            Command::Mute(seat) => {
                self.mute(Some(SeatId(seat)), true);
                format!("{} is muted", self.name(seat))
            }
            Command::Unmute(seat) => {
                self.mute(Some(SeatId(seat)), false);
                format!("{} may speak again", self.name(seat))
            }
            Command::MuteAll => {
                self.mute(None, true);
                "everyone is muted".to_owned()
            }
            Command::UnmuteAll => {
                self.mute(None, false);
                "everyone may speak again".to_owned()
            }
            Command::Say { npc, text } => {
                self.puppet(speaker, SeatId(npc), text);
                format!("{} says it", self.name(npc))
            }
            Command::Think(seat) => {
                self.router.overrides.set_next(SeatId(seat), Tier::Deep);
                format!("{} thinks carefully about the next answer", self.name(seat))
            }
            Command::Faster => {
                self.router.go_faster(Instant::now());
                "answers come faster for five minutes".to_owned()
            }
            Command::Scene(name) => {
                self.change_scene(SceneChange::Set { location: Some(name), time: None });
                format!("the scene is {}", self.router.scene.location().unwrap_or_default())
            }
        }
    }

    /// The name of the NPC with this place in the cast, as orders have it.
    fn name(&self, seat: usize) -> &str {
        &self.seats[SeatId(seat)].npc.name
    }
}
