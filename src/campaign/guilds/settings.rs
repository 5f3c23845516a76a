//! Persistent settings of a guild, and the set of served guilds.
//! **Never**: reads settings of a newer version as if they were complete.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    campaign::PlayedCampaign,
    domain::{CampaignKey, PersonId},
    tools::{CastChanges, Permits},
};

/// Form of players' consent to being heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// Players are notified, and may opt out.
    #[default]
    Notice,
    /// Players are heard only after they press a button.
    Ask,
}

/// Guilds that the bot serves: not every guild it is invited to, unless configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServedGuilds {
    /// Guilds approved by their `/setup`, or by the version that asked for no approval.
    #[default]
    LetIn,
    /// Exactly these Discord ids.
    Listed(BTreeSet<u64>),
    /// Every server that the bot is invited to.
    Any,
}

impl ServedGuilds {
    /// True if `guild` is served; `None`: its own settings decide.
    pub fn serves(&self, guild: u64) -> Option<bool> {
        match self {
            Self::Any => Some(true),
            Self::Listed(ids) => Some(ids.contains(&guild)),
            Self::LetIn => None,
        }
    }
}

const VERSION: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("invalid settings: {0}")]
    Foreign(serde_json::Error),
    #[error("the settings are from a newer version (update glyphoxa)")]
    Newer,
}

/// Settings of a guild. Ids are Discord's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuildSettings {
    version: u32,
    /// Incremented by every change.
    pub revision: u64,
    /// Its `/setup` has given the code that the program prints.
    pub let_in: bool,
    pub dm_role: Option<u64>,
    /// Channel of approvals and notices to the game master.
    pub log_channel: Option<u64>,
    /// Required consent; `None`: the configured one.
    pub consent: Option<Consent>,
    /// Users who are never heard.
    pub opted_out: BTreeSet<u64>,
    /// Users who agreed to be heard, where consent is asked.
    pub agreed: BTreeSet<u64>,
    /// Characters by user id; empty for a user who plays none.
    pub characters: BTreeMap<u64, String>,
    /// Volume of music, in percent.
    pub music_volume: Option<u8>,
    /// Game masters' changes to NPCs' tools.
    pub tools: CastChanges,
    /// Tools that need no more approval, with their definitions at the time.
    pub permits: Permits,
    /// Messages of waiting requests, by request key.
    pub waiting: BTreeMap<String, ShownRequest>,
    pub servers: BTreeMap<String, AddedServer>,
    /// Campaigns loaded here.
    pub campaigns: Vec<PlayedCampaign>,
    /// Name of the current campaign; empty: the configured one.
    pub campaign: Option<String>,
    /// Last play session of each campaign.
    pub last_sessions: BTreeMap<CampaignKey, String>,
    /// Last play session as stored by earlier versions, until the next one.
    pub last_session: Option<String>,
    /// The session that runs; left behind, it was interrupted.
    pub running: Option<RunningSession>,
}

/// A session that runs in a guild: everything to go on with it that its own state lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningSession {
    pub session: String,
    /// The session it continues.
    pub after: Option<String>,
    pub campaign: CampaignKey,
    pub text_channel: u64,
    pub voice_channel: u64,
    /// The user who started it.
    pub by: u64,
    /// Unix time in ms.
    pub began: i64,
    /// Last sign of life, as Unix time in ms.
    pub seen: i64,
    /// Message of the panel.
    pub panel: Option<u64>,
    /// Users who were notified that they are heard.
    pub told: BTreeSet<u64>,
    /// Outside services that their notice named.
    pub told_of: BTreeSet<String>,
    /// Programs outside could read what was said.
    pub is_listened_to: bool,
    /// The NPC that is about to answer, or speaks.
    pub answering: Option<String>,
    /// Attempts to go on since it was interrupted.
    pub tries: u32,
}

/// A message that shows a waiting request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownRequest {
    pub channel: u64,
    pub message: u64,
    /// The call; `None`: a server's question, which does not survive a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<KeptCall>,
}

/// A waiting call, as shown to the game master.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCall {
    pub npc: String,
    /// The person it is called for; `None`: unknown, or stored by an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PersonId>,
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// Why the game master must decide.
    pub reason: String,
    /// Fingerprint of the tool's definition.
    pub definition: String,
    /// The definition may be allowed permanently.
    pub may_be_waived: bool,
    /// Deadline, in milliseconds since 1970.
    pub until: i64,
    /// Hash of the token by which the notified system may decide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
}

/// A tool server added by a game master: a program or an address.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AddedServer {
    /// The program and its arguments, quoted as for a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Address of a remote server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Bearer token for the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Hides arguments, addresses and tokens, which may be secrets.
impl fmt::Debug for AddedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

impl GuildSettings {
    /// The session that the next one of `campaign` continues.
    pub fn last_of(&self, campaign: &CampaignKey) -> Option<&String> {
        self.last_sessions.get(campaign).or(self.last_session.as_ref())
    }

    /// The campaign played here; `None`: the configured one.
    pub fn played(&self) -> Option<&PlayedCampaign> {
        let name = self.campaign.as_ref()?;
        self.campaigns.iter().find(|it| it.name == *name)
    }

    /// Records the start of `session`.
    pub fn begun(&mut self, campaign: CampaignKey, session: String) {
        self.last_sessions.insert(campaign, session);
        self.last_session = None;
    }

    /// Reads settings written by [`Self::text`]. Fails on other content or a newer version.
    pub fn read(text: &str) -> Result<Self, SettingsError> {
        let settings: Self = serde_json::from_str(text).map_err(SettingsError::Foreign)?;
        if settings.version > VERSION {
            return Err(SettingsError::Newer);
        }
        Ok(settings)
    }

    /// Serializes the settings. The text may contain tokens of servers.
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
            running: Some(RunningSession {
                session: "discord-7-9".to_owned(),
                after: None,
                campaign: CampaignKey("ravenford".to_owned()),
                text_channel: 5,
                voice_channel: 4,
                by: 9,
                began: 1_000,
                seen: 2_000,
                panel: None,
                told: [11].into(),
                told_of: ["gpt".to_owned()].into(),
                is_listened_to: false,
                answering: Some("Bartok".to_owned()),
                tries: 0,
            }),
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
