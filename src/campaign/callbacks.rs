//! Addresses of the listener by which a notified system decides waiting calls, one address a call.
//!
//! Entry type: [`Callbacks`]. An address ends in a token of 256 random bits, of which only the hash
//! is stored. The first decision uses it up, and it ends with its [`Callback`], which the waiting
//! request owns. A decision travels to the request's face, which applies it and so answers the
//! system. **Never**: decides itself, or tells what waits.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;

use super::access::secret;

/// Open addresses. Cloning shares them.
#[derive(Clone, Default)]
pub struct Callbacks(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Address of the listener; unset without one.
    base: OnceLock<String>,
    /// Senders to the requests' faces, by the hash of the token.
    open: Mutex<BTreeMap<String, oneshot::Sender<CallbackDecision>>>,
}

/// A call's open address. Dropping it closes the address.
pub struct Callback {
    shared: Arc<Shared>,
    hash: String,
}

/// An address just opened.
pub struct NewCallback {
    /// To be sent to the notified system alone.
    pub address: CallbackAddress,
    /// To be owned by the waiting request.
    pub callback: Callback,
    /// Fails once the address is closed.
    pub decision: oneshot::Receiver<CallbackDecision>,
}

/// An address with its token, which is a secret.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CallbackAddress(String);

impl fmt::Debug for CallbackAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

/// Decision of a notified system about a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallbackChoice {
    /// The call is made as it was asked about.
    Allow,
    /// The call is not made.
    Refuse,
    /// The call is not made; this is its result.
    Complete(Value),
}

/// A choice on its way to the request's face. Dropping it means that it came too late.
pub struct CallbackDecision {
    choice: CallbackChoice,
    taken: oneshot::Sender<()>,
}

impl CallbackDecision {
    /// Applies the choice; `apply` returns false if it came too late.
    pub fn apply(self, apply: impl FnOnce(CallbackChoice) -> bool) {
        if apply(self.choice) {
            // The system may have hung up.
            _ = self.taken.send(());
        }
    }
}

/// Reason a decision was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallbackError {
    /// Never opened, used, or closed.
    #[error("this address is unknown, was used already, or its request is over")]
    Unknown,
    /// Decided elsewhere or ended meanwhile.
    #[error("this request was decided elsewhere, or it expired")]
    Over,
}

impl Callbacks {
    /// Addresses opened from now on lie below `base`, the listener ("https://host:port").
    pub fn serve_at(&self, base: String) {
        // One listener per run of the program.
        _ = self.0.base.set(base);
    }

    /// Opens an address; `None`: no listener runs.
    pub fn open(&self) -> Option<NewCallback> {
        let base = self.0.base.get()?;
        let token = secret::random();
        let address = CallbackAddress(format!("{base}/approvals/{token}"));
        let (callback, decision) = self.restore(secret::hash(&token));
        Some(NewCallback { address, callback, decision })
    }

    /// Opens the address of an earlier run again, by the hash of its token.
    pub fn restore(&self, hash: String) -> (Callback, oneshot::Receiver<CallbackDecision>) {
        let (decided, decision) = oneshot::channel();
        self.0.open().insert(hash.clone(), decided);
        (Callback { shared: Arc::clone(&self.0), hash }, decision)
    }

    /// Decides the call whose address ends in `token`, and uses the token up. A caller that gives
    /// up meanwhile takes nothing back.
    ///
    /// # Errors
    /// The token is unknown or used, or the request is over.
    pub async fn decide(&self, token: &str, choice: CallbackChoice) -> Result<(), CallbackError> {
        let face = self.0.open().remove(&secret::hash(token)).ok_or(CallbackError::Unknown)?;
        let (taken, is_taken) = oneshot::channel();
        face.send(CallbackDecision { choice, taken }).map_err(|_| CallbackError::Over)?;
        is_taken.await.map_err(|_| CallbackError::Over)
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, BTreeMap<String, oneshot::Sender<CallbackDecision>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Callback {
    /// SHA-256 of its token in hexadecimal, by which the next run restores it.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        self.shared.open().remove(&self.hash);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn callbacks() -> Callbacks {
        let callbacks = Callbacks::default();
        callbacks.serve_at("http://127.0.0.1:4100".to_owned());
        callbacks
    }

    fn token(new: &NewCallback) -> String {
        let prefix = "http://127.0.0.1:4100/approvals/";
        new.address.0.strip_prefix(prefix).expect("an address of the listener").to_owned()
    }

    #[tokio::test]
    async fn address_decides_its_own_call_once() {
        let callbacks = callbacks();
        let (new, other) = (callbacks.open().unwrap(), callbacks.open().unwrap());
        let token = token(&new);
        assert_eq!(token.len(), 43, "256 bits");
        assert_eq!(format!("{:?}", new.address), "<secret>");
        let complete = || CallbackChoice::Complete(json!({"on": true}));
        let face = async { new.decision.await.unwrap().apply(|it| it == complete()) };
        let (decided, ()) = tokio::join!(callbacks.decide(&token, complete()), face);
        assert_eq!(decided, Ok(()));
        let again = callbacks.decide(&token, CallbackChoice::Allow).await;
        assert_eq!(again, Err(CallbackError::Unknown));
        let mut waits = other.decision;
        let nothing = waits.try_recv().err();
        assert_eq!(nothing, Some(oneshot::error::TryRecvError::Empty), "another call waits on");
    }

    #[tokio::test]
    async fn address_ends_with_its_request() {
        let callbacks = callbacks();
        let new = callbacks.open().unwrap();
        let given = token(&new);
        drop(new.callback);
        assert!(new.decision.await.is_err(), "its face stops waiting");
        let late = callbacks.decide(&given, CallbackChoice::Allow).await;
        assert_eq!(late, Err(CallbackError::Unknown));
        // Decided elsewhere while the decision was on its way.
        let new = callbacks.open().unwrap();
        let given = token(&new);
        let face = async { new.decision.await.unwrap().apply(|_| false) };
        let (late, ()) = tokio::join!(callbacks.decide(&given, CallbackChoice::Refuse), face);
        assert_eq!(late, Err(CallbackError::Over));
    }

    #[tokio::test]
    async fn address_outlives_a_restart_by_its_hash() {
        let earlier = callbacks();
        let new = earlier.open().unwrap();
        let (given, hash) = (token(&new), new.callback.hash().to_owned());
        assert!(!hash.contains(&given), "the token is not stored");
        let next = Callbacks::default();
        let (_callback, decision) = next.restore(hash.clone());
        // The hash, which the store holds, opens nothing.
        let guessed = next.decide(&hash, CallbackChoice::Allow).await;
        assert_eq!(guessed, Err(CallbackError::Unknown));
        let face = async { decision.await.unwrap().apply(|it| it == CallbackChoice::Allow) };
        let (decided, ()) = tokio::join!(next.decide(&given, CallbackChoice::Allow), face);
        assert_eq!(decided, Ok(()));
    }

    #[test]
    fn without_a_listener_no_address_is_given() {
        assert!(Callbacks::default().open().is_none());
    }
}
