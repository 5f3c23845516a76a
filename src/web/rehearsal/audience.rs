//! The pages at a rehearsal's table, and what all of them are sent. Entry type: [`Audience`].

use std::{
    iter,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::body::Bytes;

use super::{
    pages::{Page, written},
    wire::ToPage,
};
use crate::session::SpeakerId;

/// Pages at the table. Cloning shares them.
#[derive(Clone, Default)]
pub struct Audience(Arc<Mutex<Vec<Member>>>);

struct Member {
    page: Page,
    /// Of the player; no other one has it.
    name: String,
    /// Sees and hears the table.
    is_open: bool,
}

/// The player of a page.
pub fn speaker_of(page: &Page) -> SpeakerId {
    SpeakerId(page.player.into())
}

impl Audience {
    /// Names the player of `page` as `wanted`, with a number if another one has the name: what is
    /// stored of people here goes by their names. Returns the name.
    pub fn call(&self, page: &Page, wanted: &str) -> String {
        let mut members = self.members();
        let is_free = |name: &String| {
            !members.iter().any(|it| it.page.id != page.id && is_same(&it.name, name))
        };
        let numbered = (page.player..).map(|number| format!("{wanted} {number}"));
        let mut names = iter::once(wanted.to_owned()).chain(numbered);
        let name = names.find(is_free).unwrap_or_else(|| wanted.to_owned());
        match members.iter_mut().find(|it| it.page.id == page.id) {
            Some(member) => member.name.clone_from(&name),
            None => {
                let (page, name) = (page.clone(), name.clone());
                members.push(Member { page, name, is_open: false });
            }
        }
        name
    }

    /// Sends the page with this id everything from now on; its player must have a name.
    pub fn open(&self, page: u64) {
        let mut members = self.members();
        members.iter_mut().filter(|it| it.page.id == page).for_each(|it| it.is_open = true);
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
        let found = members.iter().find(|it| is_same(&it.name, name.trim()));
        found.map(|it| speaker_of(&it.page))
    }

    /// True if no page hears the table.
    pub fn is_empty(&self) -> bool {
        !self.members().iter().any(|it| it.is_open)
    }

    pub fn tell(&self, event: &ToPage) {
        if let Some(written) = written(event) {
            self.each(|page| page.send_written(written.clone()));
        }
    }

    /// Sends speech to every page.
    pub fn play(&self, sound: &Bytes) {
        self.each(|page| page.sound(sound.clone()));
    }

    /// Sends music to every page that is not behind.
    pub fn play_music(&self, sound: &Bytes) {
        let members = self.members();
        members.iter().filter(|it| it.is_open).for_each(|it| it.page.music(sound.clone()));
    }

    /// Sends to open pages; one that takes nothing gets no more, until its player leaves.
    fn each(&self, send: impl Fn(&Page) -> bool) {
        for member in self.members().iter_mut().filter(|it| it.is_open) {
            member.is_open = send(&member.page);
        }
    }

    fn members(&self) -> MutexGuard<'_, Vec<Member>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True if people take both names for one.
fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{super::stand_in::opened, *};

    #[tokio::test]
    async fn every_player_has_a_name_of_their_own() {
        let audience = Audience::default();
        let [(one, _first), (other, _second)] = opened(&audience).await;
        let names = |audience: &Audience| [&one, &other].map(|it| audience.name(speaker_of(it)));
        assert_eq!(names(&audience), ["Ada", "Ada 2"].map(|it| Some(it.to_owned())));
        assert_eq!(audience.call(&one, "Änne 2"), "Änne 2");
        assert_eq!(audience.call(&other, "änne"), "änne");
        assert_eq!(audience.call(&other, "ÄNNE 2"), "ÄNNE 2 2", "the number may be taken too");
        assert_eq!(audience.call(&other, "ÄNNE 2"), "ÄNNE 2 2", "its own name is free");
        assert_eq!(audience.named("änne 2"), Some(speaker_of(&one)));
        audience.leave(one.id);
        assert_eq!(audience.call(&other, "Änne 2"), "Änne 2");
    }

    #[tokio::test]
    async fn slow_page_keeps_its_name_until_it_leaves() {
        let audience = Audience::default();
        let [(page, queue)] = opened(&audience).await;
        drop(queue);
        audience.tell(&ToPage::Card { on: true });
        assert!(audience.is_empty());
        assert_eq!(audience.named("Ada"), Some(speaker_of(&page)));
    }
}
