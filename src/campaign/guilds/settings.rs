//! Settings of a guild, kept over restarts.
//!
//! Entry type: [`GuildSettings`]. **Never**: reads what a newer version has written as if it were
//! whole.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::consent::Consent;
use crate::{
    campaign::PlayedCampaign,
    domain::{CampaignKey, PersonId},
    tools::{CastChanges, Permits},
};

/// The format written.
const VERSION: u32 = 1;

/// Error in stored settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// They are something else.
    #[error("invalid settings: {0}")]
    Foreign(serde_json::Error),
    /// They are of a newer version.
    #[error("the settings are from a newer version (update glyphoxa)")]
    Newer,
}

/// Settings of a guild. Ids are Discord's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuildSettings {
    version: u32,
    /// Counts up with every change.
    pub revision: u64,
    /// Its `/setup` has given the code that the program prints.
    pub let_in: bool,
    /// Role of game masters.
    pub dm_role: Option<u64>,
    /// Channel of approvals and words to the game master.
    pub log_channel: Option<u64>,
    /// Consent required of players; `None`: the configured one.
    pub consent: Option<Consent>,
    /// Users who are never heard.
    pub opted_out: BTreeSet<u64>,
    /// Users who agreed to be heard where everybody is asked.
    pub agreed: BTreeSet<u64>,
    /// Characters that users play, by user id; an empty name: nobody but themselves.
    pub characters: BTreeMap<u64, String>,
    /// Volume of music, in percent.
    pub music_volume: Option<u8>,
    /// Changes of game masters to NPCs' tools.
    pub tools: CastChanges,
    /// Tools that are no longer asked about, as they were defined when that was decided.
    pub permits: Permits,
    /// Messages of requests that wait for a decision, by the requests' keys.
    pub waiting: BTreeMap<String, ShownRequest>,
    /// Tool servers added here, by name.
    pub servers: BTreeMap<String, AddedServer>,
    /// Campaigns that were loaded here.
    pub campaigns: Vec<PlayedCampaign>,
    /// The name of the one that is played; empty: the configured one.
    pub campaign: Option<String>,
    /// The last play session of each campaign.
    pub last_sessions: BTreeMap<CampaignKey, String>,
    /// The last play session, as earlier versions kept it, until there is another one.
    pub last_session: Option<String>,
}

/// A message that shows a request which waits for a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownRequest {
    /// The channel it stands in, by Discord's id.
    pub channel: u64,
    /// The message, by Discord's id.
    pub message: u64,
    /// The call that is asked about; `None`: a server's question, which waits for no restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<KeptCall>,
}

/// A call that waits for a decision, as it was put before the game master.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCall {
    /// The NPC that wants it.
    pub npc: String,
    /// The person it is called for; `None`: not a person of the table, or stored before people were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PersonId>,
    /// Identity of the tool.
    pub tool: String,
    /// Arguments of the call.
    pub arguments: Map<String, Value>,
    /// Reason the game master must decide.
    pub reason: String,
    /// Fingerprint of the tool's definition.
    pub definition: String,
    /// The definition may be allowed for good.
    pub may_be_waived: bool,
    /// Until when it may be decided, in milliseconds since 1970.
    pub until: i64,
}

/// A tool server added by a game master: a program or an address.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AddedServer {
    /// The program and its arguments, quoted as for a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The address of a server that runs elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A bearer token for the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Arguments, addresses and tokens may be secrets.
impl fmt::Debug for AddedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

impl GuildSettings {
    /// The session that the next one of `campaign` goes on from.
    pub fn last_of(&self, campaign: &CampaignKey) -> Option<&String> {
        self.last_sessions.get(campaign).or(self.last_session.as_ref())
    }

    /// `session` of `campaign` has begun.
    pub fn begun(&mut self, campaign: CampaignKey, session: String) {
        self.last_sessions.insert(campaign, session);
        self.last_session = None;
    }

    /// Reads what [`Self::text`] has written.
    ///
    /// # Errors
    /// It is something else, or of a newer version.
    pub fn read(text: &str) -> Result<Self, SettingsError> {
        let settings: Self = serde_json::from_str(text).map_err(SettingsError::Foreign)?;
        if settings.version > VERSION {
            return Err(SettingsError::Newer);
        }
        Ok(settings)
    }

    /// Serializes the settings for storage; may contain tokens of servers.
    ///
    /// # Errors
    /// Serialization failed.
    pub fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&Self { version: VERSION, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_written_are_read_back_unchanged() {
        let mut tools = CastChanges::new();
        tools.entry("Bartok".to_owned()).or_default().set("home.*", true);
        let token = Some("sesame".to_owned());
        let server =
            AddedServer { url: Some("https://a.example".to_owned()), token, command: None };
        assert!(!format!("{server:?}").contains("sesame"));
        let settings = GuildSettings {
            revision: 4,
            dm_role: Some(3),
            opted_out: [11].into(),
            consent: Some(Consent::Ask),
            characters: [(11, "Thorin".to_owned())].into(),
            music_volume: Some(40),
            tools,
            servers: [("home".to_owned(), server)].into(),
            ..GuildSettings::default()
        };
        let read = GuildSettings::read(&settings.text().unwrap()).unwrap();
        assert_eq!(read, GuildSettings { version: VERSION, ..settings });
    }

    #[test]
    fn broken_and_newer_ones_are_refused() {
        assert!(GuildSettings::read("{").unwrap_err().to_string().contains("invalid settings"));
        assert!(
            GuildSettings::read(r#"{"version": 99}"#)
                .unwrap_err()
                .to_string()
                .contains("newer version")
        );
    }
}
