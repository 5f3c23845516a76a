//! What outlives a run: the protocol revision each server speaks, and which tools were approved.
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

use super::{client::Era, definitions::Listed};
use crate::files;

/// Protocol revision, by endpoint.
type Revisions = BTreeMap<String, String>;
/// Approved definitions, by server and tool.
type Approvals = BTreeMap<String, BTreeMap<String, Value>>;

/// Two small JSON files in the data folder, rewritten whole at each change.
pub struct RememberedServers {
    folder: PathBuf,
    spoken: Mutex<Revisions>,
    approved: Mutex<Approvals>,
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
            approved: Mutex::new(read(&folder.join("mcp-approved.json"))),
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
        let approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        approved.get(server).and_then(|tools| tools.get(&tool.name)) == Some(&tool.pinned())
    }

    /// Approves what `server` lists now, and nothing else of it.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn approve(&self, server: &str, tools: &[Listed]) -> io::Result<()> {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = tools.iter().map(|tool| (tool.name.clone(), tool.pinned())).collect();
        approved.insert(server.to_owned(), tools);
        self.write("mcp-approved.json", &*approved)
    }

    fn write<T: Serialize>(&self, name: &str, servers: &T) -> io::Result<()> {
        let content = serde_json::to_vec_pretty(&File { version: 1, servers })?;
        files::replace_private(&self.folder.join(name), &content)
    }
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
