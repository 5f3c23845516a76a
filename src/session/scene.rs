//! Place and time of the game, and the NPCs present.
//!
//! Entry type: [`Whereabouts`].

use std::sync::Arc;

use super::SeatId;
use crate::{
    domain::{Campaign, Scene},
    logic::words::fold,
};

#[derive(Clone, Debug)]
pub struct Whereabouts {
    campaign: Arc<Campaign>,
    npcs: Vec<Presence>,
    location: Option<String>,
    time_of_day: Option<String>,
}

#[derive(Clone, Debug)]
struct Presence {
    seat: SeatId,
    npc: String,
    present: bool,
}

impl Whereabouts {
    /// The campaign's first scene; `npcs` in the order of their seats. Without a scene all are
    /// present.
    pub fn new(campaign: &Arc<Campaign>, npcs: Vec<String>) -> Self {
        let place = |(seat, npc)| Presence { seat: SeatId(seat), npc, present: true };
        let mut whereabouts = Self {
            campaign: Arc::clone(campaign),
            npcs: npcs.into_iter().enumerate().map(place).collect(),
            location: None,
            time_of_day: None,
        };
        if let Some(first) = campaign.scenes.first() {
            whereabouts.go_to(first);
        }
        whereabouts
    }

    /// Sets location and time; `None`: unchanged, empty: cleared. A campaign's scene brings its
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

    /// Restores location and time, and moves no NPC; `None` clears them.
    pub fn return_to(&mut self, location: Option<String>, time_of_day: Option<String>) {
        (self.location, self.time_of_day) = (location, time_of_day);
    }

    pub fn place(&mut self, seat: SeatId, present: bool) {
        if let Some(known) = self.npcs.iter_mut().find(|known| known.seat == seat) {
            known.present = present;
        }
    }

    /// Adds an NPC; it is present unless the campaign's scene omits it.
    pub fn join(&mut self, seat: SeatId, npc: &str) {
        self.leave(seat);
        let scene = self.scene();
        let present = scene.is_none_or(|scene| scene.npcs.iter().any(|it| it == npc));
        self.npcs.push(Presence { seat, npc: npc.to_owned(), present });
    }

    pub fn leave(&mut self, seat: SeatId) {
        self.npcs.retain(|known| known.seat != seat);
    }

    /// Applies a new campaign. NPCs added to the scene come, removed ones go; the others are
    /// unchanged.
    pub fn describe(&mut self, campaign: &Arc<Campaign>) {
        let before = self.scene().map(|scene| scene.npcs.clone());
        self.campaign = Arc::clone(campaign);
        let Some((before, now)) = before.zip(self.scene().map(|scene| scene.npcs.clone())) else {
            return;
        };
        for known in &mut self.npcs {
            match (before.contains(&known.npc), now.contains(&known.npc)) {
                (false, true) => known.present = true,
                (true, false) => known.present = false,
                _ => {}
            }
        }
    }

    pub fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }

    pub fn time_of_day(&self) -> Option<&str> {
        self.time_of_day.as_deref()
    }

    /// Search words for music of the campaign's scene.
    pub fn music(&self) -> Option<&str> {
        self.scene()?.music.as_deref()
    }

    pub fn is_present(&self, seat: SeatId) -> bool {
        self.npcs.iter().any(|known| known.seat == seat && known.present)
    }

    pub fn present(&self) -> Vec<String> {
        self.npcs.iter().filter(|it| it.present).map(|it| it.npc.clone()).collect()
    }

    pub fn knows(&self, name: &str) -> bool {
        scene_named(&self.campaign, name).is_some()
    }

    fn go_to(&mut self, scene: &Scene) {
        self.location = Some(scene.name.clone());
        self.npcs.iter_mut().for_each(|known| known.present = scene.npcs.contains(&known.npc));
    }

    fn scene(&self) -> Option<&Scene> {
        scene_named(&self.campaign, self.location()?)
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
