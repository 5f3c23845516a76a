//! Ownership of stored data.
//!
//! Entry type: [`Scope`]. **Never**: made of a display name; names only lead to keys.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::PersonId;

/// A campaign's key; data of other campaigns is invisible.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CampaignKey(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    Guild(u64),
    Local,
}

/// Owner and campaign of stored data; other scopes cannot see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub struct Scope {
    pub owner: Owner,
    pub campaign: CampaignKey,
}

impl Owner {
    /// `None`: not a Discord server.
    pub const fn guild(self) -> Option<u64> {
        match self {
            Self::Guild(id) => Some(id),
            Self::Local => None,
        }
    }

    /// A person's id, from their number in the voice channel and their name.
    pub fn person(self, number: u64, name: &str) -> PersonId {
        PersonId(match self {
            Self::Guild(_) => number.to_string(),
            Self::Local => name.to_owned(),
        })
    }

    /// Stored form of the owner.
    pub fn word(self) -> String {
        self.guild().map_or_else(|| "local".to_owned(), |id| id.to_string())
    }

    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "local" => Some(Self::Local),
            _ => word.parse().ok().map(Self::Guild),
        }
    }
}

impl Scope {
    pub const fn local(campaign: CampaignKey) -> Self {
        Self { owner: Owner::Local, campaign }
    }

    /// Stored form: `42/saltmarsh` for a guild, `saltmarsh` for this machine, as before scopes
    /// existed. Unique.
    pub fn key(&self) -> String {
        let campaign = &self.campaign.0;
        match self.owner {
            Owner::Guild(guild) => format!("{guild}/{campaign}"),
            Owner::Local if campaign.contains('/') => format!("/{campaign}"),
            Owner::Local => campaign.clone(),
        }
    }

    pub fn of_key(key: &str) -> Self {
        let campaign = |it: &str| CampaignKey(it.to_owned());
        match key.split_once('/').map(|(owner, it)| (owner, owner.parse(), it)) {
            Some((_, Ok(guild), it)) => Self { owner: Owner::Guild(guild), campaign: campaign(it) },
            Some(("", Err(_), it)) => Self::local(campaign(it)),
            _ => Self::local(campaign(key)),
        }
    }
}

/// For people, after "of".
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let campaign = &self.campaign.0;
        match self.owner {
            Owner::Local => write!(f, "the campaign '{campaign}'"),
            Owner::Guild(guild) => {
                write!(f, "the campaign '{campaign}' of the Discord server {guild}")
            }
        }
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> Self {
        scope.key()
    }
}

impl From<String> for Scope {
    fn from(key: String) -> Self {
        Self::of_key(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_back_to_scopes() {
        for (owner, campaign, key) in [
            (Owner::Guild(42), "saltmarsh", "42/saltmarsh"),
            (Owner::Local, "saltmarsh", "saltmarsh"),
            (Owner::Local, "42/saltmarsh", "/42/saltmarsh"),
            (Owner::Guild(42), "/a/b", "42//a/b"),
            (Owner::Local, "/", "//"),
        ] {
            let scope = Scope { owner, campaign: CampaignKey(campaign.to_owned()) };
            assert_eq!(Owner::of_word(&owner.word()), Some(owner));
            assert_eq!((scope.key().as_str(), Scope::of_key(key)), (key, scope));
        }
    }

    #[test]
    fn people_are_their_user_ids_on_discord() {
        assert_eq!(Owner::Guild(7).person(1, "Anna"), PersonId("1".to_owned()));
        assert_eq!(Owner::Local.person(1, "Anna"), PersonId("Anna".to_owned()));
    }
}
