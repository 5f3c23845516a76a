//! The pages at a rehearsal's table, and what all of them are sent. Entry type: [`Audience`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;

use super::{pages::Page, wire::ToPage};
use crate::session::SpeakerId;

/// Pages at the table. Cloning shares them.
#[derive(Clone, Default)]
pub struct Audience(Arc<Mutex<Vec<Member>>>);

struct Member {
    page: Page,
    /// Of the player.
    name: String,
}

/// The player of a page.
pub fn speaker_of(page: &Page) -> SpeakerId {
    SpeakerId(page.player.into())
}

impl Audience {
    /// Adds a page, or changes its player's name.
    pub fn join(&self, page: &Page, name: &str) {
        let mut members = self.members();
        members.retain(|it| it.page.id != page.id);
        members.push(Member { page: page.clone(), name: name.to_owned() });
    }

    /// Removes the page with this id.
    pub fn leave(&self, page: u64) {
        self.members().retain(|it| it.page.id != page);
    }

    pub fn players(&self) -> Vec<SpeakerId> {
        self.members().iter().map(|it| speaker_of(&it.page)).collect()
    }

    pub fn name(&self, player: SpeakerId) -> Option<String> {
        let members = self.members();
        let found = members.iter().find(|it| speaker_of(&it.page) == player);
        found.map(|it| it.name.clone())
    }

    /// The player of this name.
    pub fn named(&self, name: &str) -> Option<SpeakerId> {
        let members = self.members();
        let found = members.iter().find(|it| it.name.eq_ignore_ascii_case(name.trim()));
        found.map(|it| speaker_of(&it.page))
    }

    /// True if a page other than this one is open.
    pub fn has_others(&self, page: u64) -> bool {
        self.members().iter().any(|it| it.page.id != page)
    }

    pub fn is_empty(&self) -> bool {
        self.members().is_empty()
    }

    pub fn tell(&self, event: &ToPage) {
        self.members().retain(|it| it.page.send(event));
    }

    /// Sends speech to every page.
    pub fn play(&self, sound: &Bytes) {
        self.members().retain(|it| it.page.sound(sound.clone()));
    }

    fn members(&self) -> MutexGuard<'_, Vec<Member>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
