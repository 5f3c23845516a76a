//! Tools that the user of this machine has allowed permanently, stored beside the sessions.
//!
//! Entry type: [`KeptPermits`]; [`outside_sessions`] applies decisions to questions and calls
//! outside sessions. **Never**: overwrites an unreadable file.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{file_error::FileError, now};
use crate::{
    domain::{CampaignKey, Scope, SessionId},
    files,
    tools::{CastChanges, Permits, ToolHost},
};

const VERSION: u32 = 1;

pub struct KeptPermits {
    path: PathBuf,
    campaign: CampaignKey,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Content {
    version: u32,
    campaigns: BTreeMap<String, Permits>,
}

impl KeptPermits {
    /// Permits of `campaign`; reads nothing yet.
    pub fn new(data_dir: &Path, campaign: CampaignKey) -> Self {
        Self { path: data_dir.join("permits.json"), campaign }
    }

    pub fn read(&self) -> Result<Permits, FileError> {
        Ok(self.content()?.campaigns.remove(&self.campaign.0).unwrap_or_default())
    }

    /// Applies `change`, stores the result and returns it.
    pub fn change(&self, change: impl FnOnce(&mut Permits)) -> Result<Permits, FileError> {
        let mut content = self.content()?;
        content.version = VERSION;
        let permits = content.campaigns.entry(self.campaign.0.clone()).or_default();
        change(permits);
        let changed = permits.clone();
        let written = serde_json::to_vec_pretty(&content).map_err(io::Error::from);
        let written = written.and_then(|text| files::replace_private(&self.path, &text));
        written.map_err(FileError::on("save the permits in", &self.path))?;
        Ok(changed)
    }

    fn content(&self) -> Result<Content, FileError> {
        let read = match files::read_own(&self.path) {
            Ok(text) => serde_json::from_slice(&text).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Content::default()),
            Err(error) => Err(error),
        };
        let newer = || io::Error::other("it is from a newer version (update glyphoxa)");
        let read = read.and_then(|it| if it.version > VERSION { Err(newer()) } else { Ok(it) });
        read.map_err(FileError::on("read the permits in", &self.path))
    }
}

const DAY: i64 = 24 * 3_600 * 1_000;

/// Decisions of game masters about tools.
#[derive(Clone, Debug, Default)]
pub struct ToolDecisions {
    pub changes: CastChanges,
    /// Tools that need no more approval.
    pub permits: Permits,
}

/// Tools outside sessions with `decided` applied, and the name under which a day's calls count.
pub fn outside_sessions(
    tools: &ToolHost,
    scope: &Scope,
    decided: ToolDecisions,
) -> (SessionId, ToolHost) {
    let of_day = |day: i64| SessionId(format!("operator {:?} {day}", scope.owner));
    let today = now() / DAY;
    let session = of_day(today);
    tools.forget(&of_day(today - 1));
    tools.within(scope).set_changes(&session, decided.changes);
    tools.set_permits(&session, decided.permits);
    let host = tools.at(&session, scope);
    (session, host)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn permits(folder: &Path, campaign: &str) -> KeptPermits {
        KeptPermits::new(folder, CampaignKey(campaign.to_owned()))
    }

    #[test]
    fn campaign_has_its_own_and_they_stay() {
        let folder = tempfile::tempdir().unwrap();
        let here = permits(folder.path(), "saltmarsh");
        assert_eq!(here.read().unwrap(), Permits::default());
        here.change(|it| it.allow("home.wipe", "a")).unwrap();
        permits(folder.path(), "ravenford").change(|it| it.allow("home.dust", "b")).unwrap();
        let again = permits(folder.path(), "saltmarsh").read().unwrap();
        assert!(again.allows("home.wipe", "a") && !again.allows("home.dust", "b"));
        here.change(|it| _ = it.revoke("home.wipe")).unwrap();
        assert_eq!(here.read().unwrap(), Permits::default());
        let other = permits(folder.path(), "ravenford").read().unwrap();
        assert!(other.allows("home.dust", "b"));
    }

    #[test]
    fn unreadable_permits_are_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let here = permits(folder.path(), "saltmarsh");
        for text in ["{", r#"{"version": 99}"#] {
            fs::write(&here.path, text).unwrap();
            assert!(here.read().is_err() && here.change(|_| ()).is_err(), "{text}");
            assert_eq!(fs::read_to_string(&here.path).unwrap(), text);
        }
    }
}
