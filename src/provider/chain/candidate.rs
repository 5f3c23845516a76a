//! A service of a chain.

use std::{sync::Arc, time::Duration};

use super::{Asked, Health};

pub struct Candidate<S: ?Sized> {
    name: Arc<str>,
    service: Arc<S>,
    health: Arc<Health>,
}

impl<S: ?Sized> Candidate<S> {
    pub fn new(name: &str, service: Arc<S>, health: Arc<Health>) -> Self {
        Self { name: name.into(), service, health }
    }

    pub const fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub const fn service(&self) -> &Arc<S> {
        &self.service
    }

    /// Starts a request; `None`: the service rests, or a trial is running.
    pub fn ask(&self) -> Option<Asked> {
        self.health.lets_through().then(|| Asked::new(&self.name, &self.health))
    }

    pub fn ask_anyway(&self) -> Asked {
        Asked::new(&self.name, &self.health)
    }

    /// Remaining rest; `None`: it may be asked.
    pub fn rest(&self) -> Option<Duration> {
        self.health.rest()
    }

    /// 95th percentile of the waits for its first words; `None`: too few waits.
    pub fn usual_wait(&self) -> Option<Duration> {
        self.health.usual_wait()
    }

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
