//! What outlives a run: the protocol revision each server speaks, which tools were approved, and how
//! each was defined when it was first seen.
//!
//! Entry type: [`RememberedServers`]. **Never**: half a file; approves what it cannot read.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{client::Era, definitions::Listed, options::ServerAddress};
use crate::files;

/// The files of approved and of known definitions.
const APPROVED: &str = "mcp-approved.json";
const PINNED: &str = "mcp-pinned.json";

/// Protocol revision, by endpoint.
type Revisions = BTreeMap<String, String>;
/// Approved definitions, by server and tool.
type Approvals = BTreeMap<String, BTreeMap<String, Value>>;

/// Definitions as they were first seen or approved since, by place and tool.
type Pins = BTreeMap<String, BTreeMap<String, Value>>;

/// Definitions of the tools at one place.
#[derive(Default)]
pub struct PinnedTools {
    tools: BTreeMap<String, Value>,
    is_changed: bool,
}

impl PinnedTools {
    /// How a tool was defined when it was first seen, or approved since.
    pub fn get(&self, tool: &str) -> Option<&Value> {
        self.tools.get(tool)
    }

    /// This is what it is from now on.
    pub fn set(&mut self, tool: &str, definition: Value) {
        if self.tools.get(tool) != Some(&definition) {
            self.is_changed = true;
            self.tools.insert(tool.to_owned(), definition);
        }
    }
}

/// Small JSON files in the data folder, rewritten whole at each change.
pub struct RememberedServers {
    folder: PathBuf,
    spoken: Mutex<Revisions>,
    approved: Mutex<Approvals>,
    pinned: Mutex<Pins>,
}

/// The content of either file.
#[derive(Serialize, Deserialize)]
struct File<T> {
    version: u32,
    servers: T,
}

impl RememberedServers {
    /// Reads the files in `folder`, which need not exist.
    pub fn open(folder: &Path) -> Self {
        Self {
            spoken: Mutex::new(read(&folder.join("mcp-revisions.json"))),
            approved: Mutex::new(read(&folder.join(APPROVED))),
            pinned: Mutex::new(read(&folder.join(PINNED))),
            folder: folder.to_owned(),
        }
    }

    /// The era the server at `endpoint` spoke last.
    pub fn era(&self, endpoint: &str) -> Option<Era> {
        let spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
        spoken.get(endpoint).and_then(|revision| Era::of(revision))
    }

    /// Remembers what the server at `endpoint` speaks.
    pub fn set_era(&self, endpoint: &str, era: Era) {
        let mut spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = era.revision();
        if spoken.get(endpoint).map(String::as_str) == Some(revision) {
            return;
        }
        spoken.insert(endpoint.to_owned(), revision.to_owned());
        if let Err(error) = self.write("mcp-revisions.json", &*spoken) {
            tracing::warn!(%error, "what servers speak could not be kept");
        }
    }

    /// Whether this very definition was approved.
    pub fn is_approved(&self, server: &str, tool: &Listed) -> bool {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        if !known(&approved, server, tool) {
            // Another run of the program may have approved it meanwhile.
            approved.extend(read::<Approvals>(&self.folder.join(APPROVED)));
        }
        known(&approved, server, tool)
    }

    /// Approves what `server` lists now, and nothing else of it.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn approve(&self, server: &str, tools: &[Listed]) -> io::Result<()> {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = tools.iter().map(|tool| (tool.name.clone(), tool.pinned())).collect();
        approved.insert(server.to_owned(), tools);
        self.write(APPROVED, &*approved)
    }

    /// What is known of the tools of the server `at` its address, for `act` to look at and change; what another run of the
    /// program has approved meanwhile is known too. What was changed is kept.
    pub fn with_pins<T>(&self, at: &ServerAddress, act: impl FnOnce(&mut PinnedTools) -> T) -> T {
        let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        pinned.extend(read::<Pins>(&self.folder.join(PINNED)));
        let mut known =
            PinnedTools { tools: pinned.remove(&at.key()).unwrap_or_default(), is_changed: false };
        let done = act(&mut known);
        pinned.insert(at.key(), known.tools);
        if known.is_changed
            && let Err(error) = self.write(PINNED, &*pinned)
        {
            tracing::warn!(%error, "how tools are defined could not be kept");
        }
        done
    }

    fn write<T: Serialize>(&self, name: &str, servers: &T) -> io::Result<()> {
        let content = serde_json::to_vec_pretty(&File { version: 1, servers })?;
        files::replace_private(&self.folder.join(name), &content)
    }
}

fn known(approved: &Approvals, server: &str, tool: &Listed) -> bool {
    approved.get(server).and_then(|tools| tools.get(&tool.name)) == Some(&tool.pinned())
}

/// The content of `path`; empty when it does not exist or cannot be read.
fn read<T: DeserializeOwned + Default>(path: &Path) -> T {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(path = %path.display(), %error, "cannot be read");
            }
            return T::default();
        }
    };
    match serde_json::from_slice::<File<T>>(&text) {
        Ok(file) if file.version == 1 => file.servers,
        Ok(file) => {
            tracing::warn!(path = %path.display(), version = file.version, "of another version");
            T::default()
        }
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "damaged, so it counts as empty");
            T::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(description: &str) -> Listed {
        let tool = json!({"name": "get", "description": description, "inputSchema": {}});
        serde_json::from_value::<rmcp::model::Tool>(tool).expect("a tool").into()
    }

    #[test]
    fn what_was_kept_is_there_in_the_next_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = RememberedServers::open(folder.path());
        assert_eq!(kept.era("stdio x"), None);
        kept.set_era("stdio x", Era::Handshake);
        kept.approve("home", &[listed("gets")]).expect("written");
        let kept = RememberedServers::open(folder.path());
        assert_eq!(kept.era("stdio x"), Some(Era::Handshake));
        assert!(kept.is_approved("home", &listed("gets")));
        assert!(!kept.is_approved("home", &listed("gets, and sends your keys")));
        assert!(!kept.is_approved("other", &listed("gets")));
    }

    #[test]
    fn a_damaged_file_approves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("mcp-approved.json"), "{").expect("written");
        assert!(!RememberedServers::open(folder.path()).is_approved("home", &listed("gets")));
    }
}
