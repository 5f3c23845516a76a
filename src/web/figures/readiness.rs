//! Readiness of the program: store, gateway, hearing. Entry type: [`Readiness`].
//!
//! The route is open to everyone, so the store is asked at most once a second.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

use crate::{figures::Gateway, web::parts::WebParts};

/// Age of an answer that is given again.
const FRESH: Duration = Duration::from_secs(1);
/// Longest wait for the store.
const STORE: Duration = Duration::from_secs(3);

/// A part that fails, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub part: &'static str,
    pub why: String,
}

pub struct Readiness {
    parts: Arc<WebParts>,
    /// When the store was last asked, and whether it answered.
    store: Mutex<Option<(Instant, bool)>>,
}

impl Readiness {
    pub fn new(parts: Arc<WebParts>) -> Self {
        Self { parts, store: Mutex::new(None) }
    }

    /// Failing parts; empty: the program can work. Cancel safe.
    pub async fn reasons(&self) -> Vec<Reason> {
        let reason = |part, why: &str| Reason { part, why: why.to_owned() };
        let mut reasons = Vec::new();
        if !self.store_answers().await {
            reasons.push(reason("store", "it cannot be read (the log of glyphoxa says why)"));
        }
        if self.parts.handles.figures.gateway() == Some(Gateway::Down) {
            reasons.push(reason("gateway", "it is not connected to Discord"));
        }
        let settings = self.parts.handles.settings.load();
        if self.parts.is_heard && settings.services.cannot_hear().is_some() {
            reasons.push(reason("hearing", "no player is heard (use glyphoxa doctor)"));
        }
        reasons
    }

    async fn store_answers(&self) -> bool {
        let mut known = self.store.lock().await;
        if let Some((at, answers)) = *known
            && at.elapsed() < FRESH
        {
            return answers;
        }
        let handles = &self.parts.handles;
        let store = handles.sessions.transcripts().store();
        let began = Instant::now();
        let health = timeout(STORE, store.health()).await;
        handles.figures.store("health", began.elapsed());
        let answers = match health {
            Ok(Ok(_)) => true,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the program is not ready: its store fails");
                false
            }
            Err(_) => {
                tracing::warn!("the program is not ready: its store does not answer");
                false
            }
        };
        *known = Some((Instant::now(), answers));
        answers
    }
}
