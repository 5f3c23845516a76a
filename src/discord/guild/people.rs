//! People in a session's voice channel, and who knows that they are heard.
//!
//! Entry type: [`People`]. **Never**: counts a user as heard who was not notified.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::Instant;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Display name in the server.
    pub name: String,
    pub is_dm: bool,
    pub is_received: bool,
}

/// People in the voice channel, by user.
#[derive(Debug, Default)]
pub struct People {
    present: BTreeMap<u64, Person>,
    /// Users whose notice was sent or is being sent.
    told: BTreeSet<u64>,
    /// Users whose notice has arrived.
    informed: BTreeSet<u64>,
    /// Outside services named to them; `None`: no one was notified yet.
    told_of: Option<BTreeSet<String>>,
    /// Since when only bots are there.
    alone_since: Option<Instant>,
}

#[derive(Debug, Default)]
pub struct Changes {
    pub left: Vec<u64>,
    /// New or changed users.
    pub changed: Vec<(u64, Person)>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.left.is_empty() && self.changed.is_empty()
    }
}

impl People {
    /// Replaces the people present; users not notified yet are not heard.
    pub fn update(&mut self, mut now: BTreeMap<u64, Person>) -> Changes {
        for (user, person) in &mut now {
            person.is_received &= self.informed.contains(user);
        }
        let left = self.present.keys().filter(|user| !now.contains_key(user)).copied().collect();
        let changed = now.iter().filter(|(user, person)| self.present.get(user) != Some(person));
        let changed = changed.map(|(user, person)| (*user, person.clone())).collect();
        self.present = now;
        Changes { left, changed }
    }

    pub fn get(&self, user: u64) -> Option<&Person> {
        self.present.get(&user)
    }

    pub fn ids(&self) -> impl Iterator<Item = u64> {
        self.present.keys().copied()
    }

    pub fn received(&self) -> impl Iterator<Item = u64> {
        self.present.iter().filter(|(_, it)| it.is_received).map(|(user, _)| *user)
    }

    pub fn names(&self) -> (Vec<&str>, Vec<&str>) {
        let (heard, unheard): (Vec<_>, Vec<_>) =
            self.present.values().partition(|it| it.is_received);
        (names(&heard), names(&unheard))
    }

    /// Users to notify, with their names; they count as notified from now on.
    pub fn newcomers(&mut self, opted_out: &BTreeSet<u64>) -> Vec<(u64, String)> {
        let new = self.present.iter();
        let new = new.filter(|(user, _)| !self.told.contains(user) && !opted_out.contains(user));
        let new: Vec<_> = new.map(|(user, person)| (*user, person.name.clone())).collect();
        self.told.extend(new.iter().map(|(user, _)| *user));
        new
    }

    /// Their notice has arrived.
    pub fn inform(&mut self, users: impl IntoIterator<Item = u64>) {
        for user in users {
            self.told.insert(user);
            self.informed.insert(user);
        }
    }

    /// Their notice failed; the next look notifies them again.
    pub fn not_told(&mut self, users: impl IntoIterator<Item = u64>) {
        for user in users {
            self.told.remove(&user);
        }
    }

    /// Notifies users again whose notice has not arrived.
    pub fn tell_again(&mut self) {
        self.told.clone_from(&self.informed);
    }

    /// Users who know that they are heard, and the outside services that their notice named.
    pub fn told(&self) -> (&BTreeSet<u64>, Option<&BTreeSet<String>>) {
        (&self.informed, self.told_of.as_ref())
    }

    /// Sets the outside `services` that the first notice names.
    pub fn given_first(&mut self, services: impl Iterator<Item = String>) {
        self.told_of.get_or_insert_with(|| services.collect());
    }

    /// Outside services that may receive speech; `None` until everyone present who has not opted
    /// out knows them.
    pub fn announced(&self, opted_out: &BTreeSet<u64>) -> Option<&BTreeSet<String>> {
        let knows = |user: &u64| self.informed.contains(user) || opted_out.contains(user);
        self.told_of.as_ref().filter(|_| self.present.keys().all(knows))
    }

    /// Sets the outside `services` that may receive speech. True if notified people do not know one
    /// of them: no user is heard until notified again.
    pub fn given_to(&mut self, services: impl Iterator<Item = String>) -> bool {
        let services: BTreeSet<String> = services.collect();
        let known = self.told_of.get_or_insert_with(|| services.clone());
        if services.is_subset(known) {
            return false;
        }
        *known = services;
        self.told.clear();
        self.informed.clear();
        true
    }

    /// True if no one has been there for `idle`.
    pub fn are_gone(&mut self, now: Instant, idle: Duration) -> bool {
        if !self.present.is_empty() {
            self.alone_since = None;
            return false;
        }
        now.duration_since(*self.alone_since.get_or_insert(now)) >= idle
    }
}

fn names<'a>(people: &[&'a Person]) -> Vec<&'a str> {
    people.iter().map(|it| it.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_notified_again_of_other_services() {
        let anna = Person { name: "Anna".to_owned(), is_dm: false, is_received: true };
        let there = || BTreeMap::from([(7, anna.clone())]);
        let services = |names: &'static [&str]| names.iter().map(ToString::to_string);
        let mut people = People::default();
        people.update(there());
        assert!(!people.given_to(services(&["gpt"])), "they are told of it at first");
        people.inform([7]);
        people.update(there());
        assert_eq!(people.received().collect::<Vec<_>>(), [7]);
        assert!(!people.given_to(services(&["gpt"])));
        assert!(!people.given_to(services(&[])), "less is no news");
        assert!(people.given_to(services(&["gpt", "other"])));
        people.update(there());
        assert_eq!(people.received().count(), 0);
        assert_eq!(people.newcomers(&BTreeSet::new()), [(7, "Anna".to_owned())]);
        assert!(!people.given_to(services(&["gpt", "other"])));
    }

    #[test]
    fn services_count_once_everybody_knows_them() {
        let anna = Person { name: "Anna".to_owned(), is_dm: false, is_received: true };
        let services = |names: &'static [&str]| names.iter().map(ToString::to_string);
        let (nobody, mut people) = (BTreeSet::new(), People::default());
        assert_eq!(people.announced(&nobody), None, "no notice names any yet");
        people.update(BTreeMap::from([(7, anna.clone()), (8, anna)]));
        people.given_first(services(&["gpt"]));
        people.given_first(services(&["gpt", "other"]));
        people.inform([7]);
        assert_eq!(people.announced(&nobody), None, "the second is not told yet");
        let first: BTreeSet<String> = services(&["gpt"]).collect();
        assert_eq!(people.announced(&BTreeSet::from([8])), Some(&first));
        people.inform([8]);
        assert!(people.announced(&nobody).is_some());
        assert!(people.given_to(services(&["gpt", "other"])));
        assert_eq!(people.announced(&nobody), None, "nobody is told of the other yet");
    }
}
