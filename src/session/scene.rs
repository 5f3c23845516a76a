//! Place and time of the game, and the NPCs who are there.
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
    /// Everybody at the table.
    npcs: Vec<Presence>,
    location: Option<String>,
    time_of_day: Option<String>,
}

/// An NPC, and whether it is in the scene.
#[derive(Clone, Debug)]
struct Presence {
    seat: SeatId,
    npc: String,
    present: bool,
}

impl Whereabouts {
    /// The campaign's first scene, with `npcs` in the order of their seats; without one everybody is
    /// there.
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

    /// Restores location and time, without bringing or sending away anybody; `None` clears them.
    pub fn return_to(&mut self, location: Option<String>, time_of_day: Option<String>) {
        (self.location, self.time_of_day) = (location, time_of_day);
    }

    /// An NPC comes or goes.
    pub fn place(&mut self, seat: SeatId, present: bool) {
        if let Some(known) = self.npcs.iter_mut().find(|known| known.seat == seat) {
            known.present = present;
        }
    }

    /// An NPC joins the table: it is there unless the scene is one of the campaign's without it.
    pub fn join(&mut self, seat: SeatId, npc: &str) {
        self.leave(seat);
        let scene = self.scene();
        let present = scene.is_none_or(|scene| scene.npcs.iter().any(|it| it == npc));
        self.npcs.push(Presence { seat, npc: npc.to_owned(), present });
    }

    /// An NPC leaves the table.
    pub fn leave(&mut self, seat: SeatId) {
        self.npcs.retain(|known| known.seat != seat);
    }

    /// Takes over a new description of the campaign. NPCs newly written into the scene come, those written
    /// out of it go; all others stay as they were.
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

    /// Place of the scene, where one is set.
    pub fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }

    /// Time of day of the scene.
    pub fn time_of_day(&self) -> Option<&str> {
        self.time_of_day.as_deref()
    }

    /// Words for the music of the campaign's scene they are in.
    pub fn music(&self) -> Option<&str> {
        self.scene()?.music.as_deref()
    }

    /// True if the seat's NPC is there.
    pub fn is_present(&self, seat: SeatId) -> bool {
        self.npcs.iter().any(|known| known.seat == seat && known.present)
    }

    /// Names of those who are there.
    pub fn present(&self) -> Vec<String> {
        self.npcs.iter().filter(|it| it.present).map(|it| it.npc.clone()).collect()
    }

    /// True if the campaign has a scene of this name.
    pub fn knows(&self, name: &str) -> bool {
        scene_named(&self.campaign, name).is_some()
    }

    fn go_to(&mut self, scene: &Scene) {
        self.location = Some(scene.name.clone());
        self.npcs.iter_mut().for_each(|known| known.present = scene.npcs.contains(&known.npc));
    }

    /// The scene of the campaign they are in.
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
