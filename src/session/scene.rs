//! Where and when the game is, and which NPCs are there.
//!
//! Entry type: [`Whereabouts`]. **Never**: silences anybody; the table does.

use std::sync::Arc;

use super::seat_id::SeatId;
use crate::{
    domain::{Campaign, Scene},
    logic::words::fold,
};

/// The scene a table is in.
#[derive(Clone, Debug)]
pub struct Whereabouts {
    campaign: Arc<Campaign>,
    /// Names of the NPCs, by seat.
    npcs: Vec<String>,
    location: Option<String>,
    time_of_day: Option<String>,
    /// Whether the NPC is there, by seat.
    present: Vec<bool>,
}

impl Whereabouts {
    /// The campaign's first scene; without one everybody is there.
    pub fn new(campaign: &Arc<Campaign>, npcs: Vec<String>) -> Self {
        let mut whereabouts = Self {
            campaign: Arc::clone(campaign),
            present: vec![true; npcs.len()],
            npcs,
            location: None,
            time_of_day: None,
        };
        if let Some(first) = campaign.scenes.first() {
            whereabouts.go_to(first);
        }
        whereabouts
    }

    /// Sets location and time; `None` stays, an empty text goes. A campaign's scene brings its
    /// NPCs.
    pub fn set(&mut self, location: Option<&str>, time_of_day: Option<&str>) {
        let campaign = Arc::clone(&self.campaign);
        match location {
            None => {}
            Some(name) => match scene_named(&campaign, name) {
                Some(scene) => self.go_to(scene),
                None => self.location = filled(name),
            },
        }
        if let Some(time) = time_of_day {
            self.time_of_day = filled(time);
        }
    }

    /// An NPC comes or goes.
    pub fn place(&mut self, seat: SeatId, present: bool) {
        if let Some(known) = self.present.get_mut(seat.0) {
            *known = present;
        }
    }

    /// Where the table is.
    pub fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }

    /// What time of day it is there.
    pub fn time_of_day(&self) -> Option<&str> {
        self.time_of_day.as_deref()
    }

    /// Whether the seat's NPC is there.
    pub fn is_present(&self, seat: SeatId) -> bool {
        self.present.get(seat.0).copied().unwrap_or_default()
    }

    /// Names of those who are there.
    pub fn present(&self) -> Vec<String> {
        let here = self.npcs.iter().zip(&self.present).filter(|(_, present)| **present);
        here.map(|(name, _)| name.clone()).collect()
    }

    /// Whether the campaign has a scene of this name.
    pub fn knows(&self, name: &str) -> bool {
        scene_named(&self.campaign, name).is_some()
    }

    fn go_to(&mut self, scene: &Scene) {
        self.location = Some(scene.name.clone());
        self.present = self.npcs.iter().map(|npc| scene.npcs.contains(npc)).collect();
    }
}

fn scene_named<'c>(campaign: &'c Campaign, name: &str) -> Option<&'c Scene> {
    let wanted = fold(name);
    campaign.scenes.iter().find(|scene| fold(&scene.name) == wanted)
}

fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
