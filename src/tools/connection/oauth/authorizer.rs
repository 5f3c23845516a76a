//! Fetches, renews and widens a server's token, once for all callers. **Never**: runs two exchanges
//! at once, renews a token that was renewed meanwhile, retries a login the authorization server has
//! refused.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use tokio::task::AbortHandle;

use super::{
    OauthError,
    client::{Client, Grant, Resource},
    consent::Consent,
    credential_store::{CredentialStore, Login, Token},
    exchange::Parties,
    wire::Wire,
};

/// Longest exchange without a person.
const LIMIT: Duration = Duration::from_secs(45);

/// Reason given when a valid login is not enough.
const MORE: &str = "the server wants more scopes than the last login asked for";

type Access = Arc<str>;
/// A running exchange, shared by all waiting callers.
type Flight = Shared<BoxFuture<'static, Result<Access, OauthError>>>;

pub struct Authorizer {
    parties: Arc<Parties>,
    store: Arc<CredentialStore>,
    flight: Mutex<Option<(Flight, AbortHandle)>>,
}

#[derive(Clone)]
struct Cause {
    /// The refused token; `None`: none was sent.
    sent: Option<String>,
    challenge: Option<String>,
    /// Scopes beyond those requested so far.
    wider: Option<String>,
}

impl Authorizer {
    /// For the server `name` at `resource`, with its login in `store`.
    #[expect(clippy::disallowed_methods, reason = "a token expires by the clock on the wall")]
    pub fn new(
        name: &str,
        resource: Resource,
        client: Client,
        grant: Grant,
        store: CredentialStore,
    ) -> Self {
        let parties = Parties {
            name: name.into(),
            wire: Arc::new(Wire::new(resource.outbound(&client.authority))),
            server: resource.address,
            client,
            grant,
            consent: None,
            now: SystemTime::now,
        };
        Self { parties: Arc::new(parties), store: Arc::new(store), flight: Mutex::default() }
    }

    /// Adds a way to ask a person for consent.
    pub fn with_consent(self, consent: Arc<dyn Consent>) -> Self {
        let Self { parties, store, flight } = self;
        let parties = Parties {
            name: parties.name.clone(),
            server: parties.server.clone(),
            client: parties.client.clone(),
            wire: parties.wire.clone(),
            consent: Some(consent),
            ..*parties
        };
        Self { parties: Arc::new(parties), store, flight }
    }

    /// The token to send, renewed if it is about to expire; `None`: send none and report the
    /// server's challenge. Cancel safe: a running exchange continues.
    pub async fn token(&self) -> Result<Option<Access>, OauthError> {
        let login = self.store.get().filter(|login| login.token.is_some());
        let login = login.or_else(|| self.store.reload(self.parties.server.as_str()));
        let token = login.as_ref().and_then(|login| login.token.as_ref());
        match token {
            Some(token) if token.is_fresh((self.parties.now)()) => {
                Ok(Some(token.access.as_str().into()))
            }
            Some(Token { access, .. }) => {
                self.exchange(Cause::of(Some(access), None)).await.map(Some)
            }
            None if self.parties.grant == Grant::Program => {
                self.exchange(Cause::of(None, None)).await.map(Some)
            }
            None if self.parties.consent.is_some() => Ok(None),
            None if login.is_some() => Err(self.parties.needs_login("the last login has expired")),
            None => Err(self.parties.needs_login("no login yet")),
        }
    }

    /// Replaces the token `sent`, which the server refused (401) with `challenge`. Cancel safe.
    pub async fn instead(
        &self,
        sent: Option<&str>,
        challenge: Option<&str>,
    ) -> Result<Access, OauthError> {
        self.exchange(Cause::of(sent, challenge)).await
    }

    /// Replaces the token `sent`, which lacks `scope` (403). Fails with [`OauthError::Scope`] if
    /// the scope was requested already. Cancel safe.
    pub async fn wider(
        &self,
        sent: Option<&str>,
        challenge: Option<&str>,
        scope: &str,
    ) -> Result<Access, OauthError> {
        let wider = Some(scope.to_owned());
        self.exchange(Cause { wider, ..Cause::of(sent, challenge) }).await
    }

    /// Asks a person to log in again, even with a valid token, with all scopes the server has
    /// wanted.
    pub async fn log_in(&self) -> Result<(), OauthError> {
        let known = self.store.reload(self.parties.server.as_str());
        let login = self.parties.obtain(known.as_deref(), None, &[]).await?;
        self.store.put(&self.parties.name, Some(login))
    }

    /// Joins the running exchange, or starts one unless the token has changed meanwhile.
    async fn exchange(&self, cause: Cause) -> Result<Access, OauthError> {
        let flight = {
            let mut slot = self.flight.lock().unwrap_or_else(PoisonError::into_inner);
            match slot.as_ref().filter(|(_, task)| !task.is_finished()) {
                Some((flight, _)) => flight.clone(),
                None => {
                    if let Some(token) =
                        cause.answered_by(self.store.get().as_deref(), &self.parties)
                    {
                        return Ok(token);
                    }
                    let task = tokio::spawn(run(self.parties.clone(), self.store.clone(), cause));
                    let handle = task.abort_handle();
                    let name = self.parties.name.clone();
                    let flight = task.map(move |ended| {
                        ended.unwrap_or_else(|_| {
                            let reason = "the authorization was interrupted".to_owned();
                            Err(OauthError::Unreachable { server: name, reason })
                        })
                    });
                    let flight = flight.boxed().shared();
                    *slot = Some((flight.clone(), handle));
                    flight
                }
            }
        };
        flight.await
    }
}

impl Cause {
    fn of(sent: Option<&str>, challenge: Option<&str>) -> Self {
        Self { sent: sent.map(str::to_owned), challenge: challenge.map(str::to_owned), wider: None }
    }

    fn answered_by(&self, login: Option<&Login>, parties: &Parties) -> Option<Access> {
        let token = login?.token.as_ref()?;
        let is_other = self.sent.as_ref() != Some(&token.access);
        (is_other && token.is_fresh((parties.now)())).then(|| token.access.as_str().into())
    }
}

/// One exchange; stores its result.
async fn run(
    parties: Arc<Parties>,
    store: Arc<CredentialStore>,
    cause: Cause,
) -> Result<Access, OauthError> {
    if parties.consent.is_some() {
        return unlimited(&parties, &store, &cause).await;
    }
    let ended = tokio::time::timeout(LIMIT, unlimited(&parties, &store, &cause)).await;
    ended.unwrap_or_else(|_| {
        let reason = format!("no answer within {} s", LIMIT.as_secs());
        Err(OauthError::Unreachable { server: parties.name.clone(), reason })
    })
}

async fn unlimited(
    parties: &Parties,
    store: &CredentialStore,
    cause: &Cause,
) -> Result<Access, OauthError> {
    // Another process may have logged in or renewed.
    let known = store.reload(parties.server.as_str());
    let known = known.as_deref();
    if let Some(token) = cause.answered_by(known, parties) {
        return Ok(token);
    }
    let challenge = cause.challenge.as_deref();
    let mut wider = Vec::new();
    if let Some(scope) = &cause.wider {
        let asked = known.map(|known| known.asked.as_slice()).unwrap_or_default();
        let more = scope.split_whitespace().map(str::to_owned);
        wider = more.filter(|scope| !asked.contains(scope)).collect();
        if wider.is_empty() && parties.grant == Grant::Person && parties.consent.is_none() {
            return Err(parties.needs_login(MORE));
        }
        if wider.is_empty() {
            return Err(OauthError::Scope { server: parties.name.clone(), scope: scope.clone() });
        }
    } else if let Some(known) = known
        && parties.grant != Grant::Program
        && let Some(login) = parties.renew(known, challenge).await?
    {
        return put(parties, store, login);
    }
    if parties.grant == Grant::Person && parties.consent.is_none() {
        return Err(lost(parties, store, known, wider));
    }
    put(parties, store, parties.obtain(known, challenge, &wider).await?)
}

/// Login is impossible now; stores what the next login needs.
fn lost(
    parties: &Parties,
    store: &CredentialStore,
    known: Option<&Login>,
    wider: Vec<String>,
) -> OauthError {
    let Some(known) = known else { return parties.needs_login("no login yet") };
    let mut login = known.clone();
    let why = if wider.is_empty() {
        login.token = None;
        "the server no longer accepts the last login"
    } else {
        login.asked.extend(wider);
        MORE
    };
    match store.put(&parties.name, Some(login)) {
        Ok(()) => parties.needs_login(why),
        Err(error) => error,
    }
}

fn put(parties: &Parties, store: &CredentialStore, login: Login) -> Result<Access, OauthError> {
    let access = login.token.as_ref().map(|token| Access::from(token.access.as_str()));
    if let Err(error) = store.put(&parties.name, Some(login)) {
        // The token still works until the program ends.
        tracing::warn!(server = &*parties.name, %error, "a login could not be saved");
    }
    access.ok_or_else(|| parties.needs_login("no login yet"))
}
