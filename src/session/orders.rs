//! What the game master orders by voice.

use tokio::time::Instant;

use super::{
    SpeakerId,
    line::TierLine,
    table::Table,
    turns::{Purpose, Utterance},
};
use crate::{domain::Tier, engine::Cause, logic::command::Command};

impl Table {
    /// Does what was ordered by `speaker`; what was done, for the report.
    pub(super) fn obey(&mut self, speaker: SpeakerId, order: Command) -> String {
        let now = Instant::now();
        match order {
            Command::Mute(seat) => {
                self.mute(now, seat);
                format!("{} is muted", self.name(seat))
            }
            Command::Unmute(seat) => {
                self.seats[seat].muted = false;
                format!("{} may speak again", self.name(seat))
            }
            Command::MuteAll => {
                (0..self.seats.len()).for_each(|seat| self.mute(now, seat));
                "everyone is muted".to_owned()
            }
            Command::UnmuteAll => {
                self.seats.iter_mut().for_each(|seat| seat.muted = false);
                "everyone may speak again".to_owned()
            }
            Command::Say { npc, text } => {
                self.puppet(now, speaker, npc, text);
                format!("{} says it", self.name(npc))
            }
            Command::Think(seat) => {
                self.ears.think_carefully(seat);
                format!("{} thinks carefully about the next answer", self.name(seat))
            }
            Command::Faster => {
                self.ears.go_faster(now);
                "answers come faster for five minutes".to_owned()
            }
            Command::Scene(name) => self.go_to_scene(now, &name),
        }
    }

    /// Whoever is not there falls silent.
    fn go_to_scene(&mut self, now: Instant, name: &str) -> String {
        let Some(scene) = self.ears.go_to_scene(name).map(str::to_owned) else {
            return format!("there is no scene '{name}'");
        };
        for seat in 0..self.seats.len() {
            if !self.ears.is_present(seat) {
                self.silence(now, seat);
            }
        }
        format!("the scene is {scene}")
    }

    fn name(&self, seat: usize) -> &str {
        &self.seats[seat].npc.name
    }

    /// Silences an NPC, in the middle of a word if need be.
    fn mute(&mut self, now: Instant, seat: usize) {
        self.seats[seat].muted = true;
        self.silence(now, seat);
    }

    /// The game master's own words in an NPC's voice; they go before everything else.
    fn puppet(&mut self, now: Instant, speaker: SpeakerId, seat: usize, text: String) {
        let utterance =
            Utterance { final_at: Some(now), typed: true, ..Utterance::unheard(speaker, now) };
        let tier = TierLine {
            selected: Tier::Fast,
            effective: Tier::Fast,
            reason: "the game master's own words".to_owned(),
        };
        self.silence(now, seat);
        self.ask(Purpose { utterance, seat, tier, cause: Cause::Puppet(text) });
    }
}
