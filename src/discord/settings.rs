//! What a guild has set, kept over restarts: one file each.
//!
//! Entry types: [`Settings`], [`SettingsFile`]. **Never**: half-writes a file, or forgets an
//! opt-out because a file could not be read: then the bot is not to hear anybody.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{options::Consent, world::PlayedCampaign};
use crate::{files, tools::CastChanges};

/// The format written.
const VERSION: u32 = 1;

/// What a guild has set. Ids are Discord's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    version: u32,
    /// Role of game masters.
    pub dm_role: Option<u64>,
    /// Channel of approvals and words to the game master.
    pub log_channel: Option<u64>,
    /// How players agree to be heard.
    pub consent: Option<Consent>,
    /// Users who are never heard.
    pub opted_out: BTreeSet<u64>,
    /// Users who agreed to be heard where everybody is asked.
    pub agreed: BTreeSet<u64>,
    /// Whom users play; empty: nobody but themselves.
    pub characters: BTreeMap<u64, String>,
    /// What game masters have changed about NPCs' tools.
    pub tools: CastChanges,
    /// Tool servers added here, by name.
    pub servers: BTreeMap<String, AddedServer>,
    /// Campaigns that were loaded here.
    pub campaigns: Vec<PlayedCampaign>,
    /// The name of the one that is played; empty: the configured one.
    pub campaign: Option<String>,
    /// The last play session.
    pub last_session: Option<String>,
}

/// A tool server added by a game master: a program or an address.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AddedServer {
    /// The program and its arguments, quoted as for a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The address.
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

/// Where a guild's settings are.
#[derive(Clone, Debug)]
pub struct SettingsFile(PathBuf);

impl SettingsFile {
    /// The file of `guild` below `folder`.
    pub fn of(folder: &Path, guild: u64) -> Self {
        Self(folder.join(format!("guild-{guild}.json")))
    }

    /// What was set; nothing when nothing was.
    ///
    /// # Errors
    /// The file cannot be read, is none of ours, or was written by a newer version.
    pub fn read(&self) -> Result<Settings, String> {
        let shown = self.0.display();
        let text = match fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Settings::default()),
            Err(error) => return Err(format!("cannot read '{shown}': {error}")),
        };
        let settings: Settings = serde_json::from_str(&text).map_err(|error| {
            format!("'{shown}' holds no settings: {error} (move it away; opt-outs are in it)")
        })?;
        if settings.version > VERSION {
            return Err(format!("'{shown}' is of a newer version (update glyphoxa)"));
        }
        Ok(settings)
    }

    /// Keeps `settings`, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, settings: &Settings) -> Result<(), String> {
        let settings = Settings { version: VERSION, ..settings.clone() };
        // Tokens of servers may be in it.
        let write = || files::replace_private(&self.0, &serde_json::to_vec_pretty(&settings)?);
        write().map_err(|error: io::Error| format!("cannot write '{}': {error}", self.0.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_there_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let file = SettingsFile::of(&folder.path().join("discord"), 7);
        assert_eq!(file.read().unwrap(), Settings::default());
        let mut tools = CastChanges::new();
        tools.entry("Bartok".to_owned()).or_default().set("home.*", true);
        let token = Some("sesame".to_owned());
        let server =
            AddedServer { url: Some("https://a.example".to_owned()), token, command: None };
        assert!(!format!("{server:?}").contains("sesame"));
        let settings = Settings {
            dm_role: Some(3),
            opted_out: [11].into(),
            consent: Some(Consent::Ask),
            characters: [(11, "Thorin".to_owned())].into(),
            tools,
            servers: [("home".to_owned(), server)].into(),
            ..Settings::default()
        };
        file.write(&settings).unwrap();
        assert_eq!(file.read().unwrap(), Settings { version: VERSION, ..settings });
    }

    #[test]
    fn a_broken_or_newer_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = SettingsFile::of(folder.path(), 7);
        fs::write(&file.0, "{").unwrap();
        assert!(file.read().unwrap_err().contains("opt-outs are in it"));
        fs::write(&file.0, r#"{"version": 99}"#).unwrap();
        assert!(file.read().unwrap_err().contains("newer version"));
    }
}
