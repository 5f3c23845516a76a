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
    /// Those of everybody, for the tools of one owner: what whoever runs the program has accepted, and
    /// what was kept when guilds were not kept apart.
    everybodys: BTreeMap<String, Value>,
    is_changed: bool,
}

impl PinnedTools {
    /// How a tool was defined when it was first seen, or approved since.
    pub fn get(&self, tool: &str) -> Option<&Value> {
        self.tools.get(tool).or_else(|| self.everybodys.get(tool))
    }

    /// Whether `definition` is one that holds for everybody.
    pub fn is_accepted(&self, tool: &str, definition: &Value) -> bool {
        self.everybodys.get(tool) == Some(definition)
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

    /// The era a server spoke last.
    pub fn era(&self, at: &ServerAddress) -> Option<Era> {
        let spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
        spoken.get(&at.place()).and_then(|revision| Era::of(revision))
    }

    /// Remembers what a server speaks.
    pub fn set_era(&self, at: &ServerAddress, era: Era) {
        let mut spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
        let (revision, place) = (era.revision(), at.place());
        if spoken.get(&place).map(String::as_str) == Some(revision) {
            return;
        }
        spoken.insert(place, revision.to_owned());
        if let Err(error) = self.write("mcp-revisions.json", &*spoken) {
            tracing::warn!(%error, "what servers speak could not be kept");
        }
    }

    /// Whether this very definition was approved.
    pub fn is_approved(&self, at: &ServerAddress, tool: &Listed) -> bool {
        let server = &at.name();
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        if !known(&approved, server, tool) {
            // Another run of the program may have approved it meanwhile.
            approved.extend(read::<Approvals>(&self.folder.join(APPROVED)));
        }
        known(&approved, server, tool)
    }

    /// Approves what a server lists now, and nothing else of it.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn approve(&self, at: &ServerAddress, tools: &[Listed]) -> io::Result<()> {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = tools.iter().map(|tool| (tool.name.clone(), tool.pinned())).collect();
        approved.insert(at.name(), tools);
        self.write(APPROVED, &*approved)
    }

    /// What is known of the tools of the server `at` its address, for `act` to look at and change; what
    /// another run of the program has approved meanwhile is known too. What was changed is kept.
    pub fn with_pins<T>(&self, at: &ServerAddress, act: impl FnOnce(&mut PinnedTools) -> T) -> T {
        let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        pinned.extend(read::<Pins>(&self.folder.join(PINNED)));
        let everybodys = at.owner.map(|_| ServerAddress { owner: None, ..at.clone() });
        let everybodys = everybodys.and_then(|it| pinned.get(&it.key()).cloned());
        let mut known = PinnedTools {
            tools: pinned.remove(&at.key()).unwrap_or_default(),
            everybodys: everybodys.unwrap_or_default(),
            is_changed: false,
        };
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
    use crate::domain::Owner;

    fn of(owner: Option<Owner>, server: &str) -> ServerAddress {
        ServerAddress { owner, server: server.to_owned(), endpoint: "stdio x".to_owned() }
    }

    fn listed(description: &str) -> Listed {
        let tool = json!({"name": "get", "description": description, "inputSchema": {}});
        serde_json::from_value::<rmcp::model::Tool>(tool).expect("a tool").into()
    }

    #[test]
    fn what_was_kept_is_there_in_the_next_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = RememberedServers::open(folder.path());
        let home = of(None, "home");
        assert_eq!(kept.era(&home), None);
        kept.set_era(&home, Era::Handshake);
        kept.approve(&home, &[listed("gets")]).expect("written");
        let kept = RememberedServers::open(folder.path());
        assert_eq!(kept.era(&home), Some(Era::Handshake));
        assert!(kept.is_approved(&home, &listed("gets")));
        assert!(!kept.is_approved(&home, &listed("gets, and sends your keys")));
        assert!(!kept.is_approved(&of(None, "other"), &listed("gets")));
    }

    #[test]
    fn what_one_guild_has_accepted_is_no_other_guilds() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = RememberedServers::open(folder.path());
        let [first, second] = [1, 2].map(|guild| of(Some(Owner::Guild(guild)), "home"));
        let pin = |at: &ServerAddress, words: &str| {
            kept.with_pins(at, |known| known.set("get", listed(words).definition()));
        };
        let pinned = |at: &ServerAddress| kept.with_pins(at, |known| known.get("get").cloned());
        kept.approve(&first, &[listed("gets")]).expect("written");
        kept.set_era(&first, Era::Stateless);
        pin(&first, "gets");
        for other in [&second, &of(None, "home")] {
            assert!(!kept.is_approved(other, &listed("gets")));
            assert_eq!((kept.era(other), pinned(other)), (None, None));
        }
        // What was kept before guilds were told apart is still held against what they have added.
        pin(&of(None, "home"), "got");
        assert_eq!(pinned(&second), Some(listed("got").definition()));
        assert_eq!(pinned(&first), Some(listed("gets").definition()));
        pin(&second, "has got");
        assert_eq!(pinned(&of(None, "home")), Some(listed("got").definition()));
    }

    #[test]
    fn a_damaged_file_approves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("mcp-approved.json"), "{").expect("written");
        assert!(
            !RememberedServers::open(folder.path()).is_approved(&of(None, "home"), &listed("gets"))
        );
    }
}
