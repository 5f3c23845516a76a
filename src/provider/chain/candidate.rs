//! A service of a chain.

use std::{sync::Arc, time::Duration};

use super::{Asked, Health};

/// A service of a chain, by the name of its entry.
pub struct Candidate<S: ?Sized> {
    name: Arc<str>,
    service: Arc<S>,
    health: Arc<Health>,
}

impl<S: ?Sized> Candidate<S> {
    /// `service`, which is configured as `name`; everybody who asks it shares `health`.
    pub fn new(name: &str, service: Arc<S>, health: Arc<Health>) -> Self {
        Self { name: name.into(), service, health }
    }

    /// Its name in the configuration.
    pub const fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The service itself.
    pub const fn service(&self) -> &Arc<S> {
        &self.service
    }

    /// Asks whether it may be asked now; `None`: it rests, or is being tried by somebody else.
    pub fn ask(&self) -> Option<Asked> {
        self.health.lets_through().then(|| Asked::new(&self.name, &self.health))
    }

    /// Like [`Self::ask`], although it rests.
    pub fn ask_anyway(&self) -> Asked {
        Asked::new(&self.name, &self.health)
    }

    /// Time for which it is still left alone; `None`: it may be asked.
    pub fn rest(&self) -> Option<Duration> {
        self.health.rest()
    }

    /// The 95th percentile of the waits for its first words; `None`: too few were measured.
    pub fn usual_wait(&self) -> Option<Duration> {
        self.health.usual_wait()
    }

    /// News of it for the game master, once.
    pub(super) fn news(&self) -> Option<String> {
        self.health.news()
    }
}

impl<S: ?Sized> Clone for Candidate<S> {
    fn clone(&self) -> Self {
        let (service, health) = (Arc::clone(&self.service), Arc::clone(&self.health));
        Self { name: Arc::clone(&self.name), service, health }
    }
}
