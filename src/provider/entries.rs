//! Configured services of one kind, in order of preference, and the open ones, shared by all users
//! with equal settings.
//!
//! Entry types: [`EntryList`] of [`NamedEntry`]s; [`Pool`].

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Error;

#[derive(Clone, Debug, PartialEq)]
pub struct NamedEntry<E> {
    /// Unique in its list.
    pub name: String,
    pub entry: E,
}

/// At least one service, the preferred one first.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryList<E> {
    pub entries: Vec<NamedEntry<E>>,
    /// Asks the next service too when the first word is late.
    pub hedge: bool,
}

impl<E> EntryList<E> {
    pub fn of(name: &str, entry: E) -> Self {
        Self { entries: vec![NamedEntry { name: name.to_owned(), entry }], hedge: false }
    }

    pub fn iter(&self) -> impl Iterator<Item = &E> {
        self.entries.iter().map(|named| &named.entry)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|named| named.name.as_str())
    }

    /// All entries, the one named `preferred` first.
    pub fn preferring(&self, preferred: Option<&str>) -> impl Iterator<Item = &NamedEntry<E>> {
        let is_first = move |named: &&NamedEntry<E>| Some(named.name.as_str()) == preferred;
        let first = self.entries.iter().filter(is_first);
        first.chain(self.entries.iter().filter(move |named| !is_first(named)))
    }
}

pub struct Pool<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V> Default for Pool<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + PartialEq, V: Clone> Pool<K, V> {
    /// Returns the value opened with `settings`, or opens it; the error is that of `open`.
    pub fn get(&self, settings: &K, open: impl FnOnce() -> Result<V, Error>) -> Result<V, Error> {
        let mut opened = self.opened();
        if let Some((_, service)) = opened.iter().find(|(known, _)| known == settings) {
            return Ok(service.clone());
        }
        let service = open()?;
        opened.push((settings.clone(), service.clone()));
        Ok(service)
    }

    /// Removes entries that `is_wanted` rejects. Current users keep theirs.
    pub fn retain(&self, is_wanted: impl Fn(&K) -> bool) {
        self.opened().retain(|(settings, _)| is_wanted(settings));
    }

    /// Held while a client is made, never across an await.
    fn opened(&self) -> MutexGuard<'_, Vec<(K, V)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferred_entry_comes_first_others_in_order() {
        let named = |name: &str| NamedEntry { name: name.to_owned(), entry: () };
        let list = EntryList { entries: vec![named("a"), named("b"), named("c")], hedge: false };
        let order = |preferred| {
            let names = list.preferring(preferred).map(|it| it.name.as_str());
            names.collect::<String>()
        };
        assert_eq!(order(None), "abc");
        assert_eq!(order(Some("b")), "bac");
        assert_eq!(order(Some("gone")), "abc");
    }
}
