//! The tokens of a store. Entry type: [`Access`].

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::time::sleep;

use super::secret;
use crate::{
    campaign::clock::now,
    domain::{AccessRole, Owner},
    memory::{self, KeptToken, MemoryStore, Viewer},
};

const DAY_MS: i64 = 86_400_000;
/// Interval between checks of the token of work that outlasts its request.
const LOOKS_EVERY: Duration = Duration::from_secs(3);

/// The holder of a token, with its rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The token's id.
    pub id: String,
    /// Owner of everything that it may see and do.
    pub owner: Owner,
    pub role: AccessRole,
    /// Names with dots; `None`: every tool of the role.
    pub tools: Option<BTreeSet<String>>,
}

impl Holder {
    pub const fn is_dm(&self) -> bool {
        matches!(self.role, AccessRole::Dm)
    }

    /// Reader of memories on its behalf.
    pub const fn viewer(&self) -> Viewer {
        match self.role {
            AccessRole::Dm => Viewer::Dm,
            AccessRole::Player => Viewer::Everyone,
        }
    }

    /// True if the token names `tool`, or names none. The tool may still be for another role.
    pub fn has_tool(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.contains(tool))
    }
}

/// A token to be made.
pub struct NewToken {
    pub owner: Owner,
    pub role: AccessRole,
    /// Names with dots; `None`: every tool of the role.
    pub tools: Option<Vec<String>>,
    /// `None`: valid until revoked.
    pub days: Option<u32>,
}

/// Makes and checks access tokens of programs outside. Cloning shares the store.
#[derive(Clone)]
pub struct Access {
    store: Arc<dyn MemoryStore>,
}

impl Access {
    pub fn new(store: Arc<dyn MemoryStore>) -> Self {
        Self { store }
    }

    /// A new token and its secret (`glx_` and 43 characters of base64url), which is not stored:
    /// this is the only time that it can be shown.
    pub async fn create(&self, wanted: NewToken) -> Result<(String, KeptToken), memory::Error> {
        let NewToken { owner, role, tools, days } = wanted;
        let (secret, made) = (secret::fresh(), now());
        let token = KeptToken {
            // Eight hexadecimal digits: short enough to be typed.
            id: format!("{:08x}", rand::random::<u32>()),
            hash: secret::hash(&secret),
            owner,
            role,
            tools: tools.map(|all| BTreeSet::from_iter(all).into_iter().collect()),
            made,
            ends: days.map(|days| made.saturating_add(i64::from(days) * DAY_MS)),
        };
        self.store.add_token(token.clone()).await?;
        Ok((secret, token))
    }

    /// Tokens of `owner`, or of all; oldest first, ended ones too.
    pub async fn list(&self, owner: Option<Owner>) -> Result<Vec<KeptToken>, memory::Error> {
        self.store.tokens(owner).await
    }

    /// True if the token existed. Its holder is refused from now on.
    pub async fn revoke(&self, id: &str) -> Result<bool, memory::Error> {
        self.store.remove_token(id).await
    }

    /// Revokes all tokens of `owner`; returns their number.
    pub async fn revoke_all(&self, owner: Owner) -> Result<usize, memory::Error> {
        let tokens = self.list(Some(owner)).await?;
        for token in &tokens {
            self.revoke(&token.id).await?;
        }
        Ok(tokens.len())
    }

    /// The holder of a secret. `None`: unknown, revoked or ended. Asks the store each time, so that
    /// a revoked token ends at once, in every program that shares the store.
    pub async fn holder(&self, secret: &str) -> Result<Option<Holder>, memory::Error> {
        if !secret::has_form(secret) {
            return Ok(None);
        }
        let token = self.store.token(&secret::hash(secret)).await?;
        let valid = token.filter(|token| token.is_valid(now()));
        Ok(valid.map(|KeptToken { id, owner, role, tools, .. }| Holder {
            id,
            owner,
            role,
            tools: tools.map(BTreeSet::from_iter),
        }))
    }

    /// False once the token of `holder` is revoked or has ended.
    pub async fn is_valid(&self, holder: &Holder) -> Result<bool, memory::Error> {
        let tokens = self.list(Some(holder.owner)).await?;
        Ok(tokens.iter().any(|token| token.id == holder.id && token.is_valid(now())))
    }

    /// Resolves soon after the token of `holder` is revoked or has ended. A store that does not
    /// answer ends nothing. Cancel safe.
    pub async fn ended(&self, holder: &Holder) {
        loop {
            sleep(LOOKS_EVERY).await;
            match self.is_valid(holder).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => tracing::debug!(%error, "cannot look for a token now"),
            }
        }
    }
}
