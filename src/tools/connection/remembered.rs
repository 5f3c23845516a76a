//! Records of servers that outlive a run: protocol revisions, approved tools, and first-seen
//! definitions (pins). **Never**: leaves a half-written file; approves what it cannot read.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::Value;

use super::{
    client::Era,
    definitions::Listed,
    options::ServerAddress,
    pinned::{Pin, PinnedTools},
};
use crate::files;

/// Approved definitions.
const APPROVED: &str = "mcp-approved.json";
const PINNED: &str = "mcp-pinned.json";
/// Format of the file of pins; version 1 has whole definitions.
const PINS_VERSION: u32 = 2;

/// By endpoint.
type Revisions = BTreeMap<String, String>;
type Approvals = BTreeMap<String, BTreeMap<String, Value>>;

/// Definitions first seen, or approved since, by endpoint and tool.
type Pins = BTreeMap<String, BTreeMap<String, Pin>>;
/// Pins of version 1.
type WholePins = BTreeMap<String, BTreeMap<String, Value>>;

/// Pins, and the state of the file they were read from.
#[derive(Default)]
struct KnownPins {
    all: Pins,
    read: Option<(SystemTime, u64)>,
}

pub struct RememberedServers {
    folder: PathBuf,
    spoken: Mutex<Revisions>,
    approved: Mutex<Approvals>,
    pinned: Mutex<KnownPins>,
}

#[derive(Serialize, Deserialize)]
struct File<T> {
    version: u32,
    servers: T,
}

impl RememberedServers {
    /// Reads the files in `folder`, which need not exist.
    pub fn open(folder: &Path) -> Self {
        Self {
            spoken: Mutex::new(read(&folder.join("mcp-revisions.json"), 1)),
            approved: Mutex::new(read(&folder.join(APPROVED), 1)),
            pinned: Mutex::default(),
            folder: folder.to_owned(),
        }
    }

    /// The era the server spoke last.
    pub fn era(&self, at: &ServerAddress) -> Option<Era> {
        let spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
        spoken.get(&at.place()).and_then(|revision| Era::of(revision))
    }

    pub fn set_era(&self, at: &ServerAddress, era: Era) {
        let mut spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
        let (revision, place) = (era.revision(), at.place());
        if spoken.get(&place).map(String::as_str) == Some(revision) {
            return;
        }
        spoken.insert(place, revision.to_owned());
        if let Err(error) = self.write("mcp-revisions.json", &*spoken) {
            tracing::warn!(%error, "cannot save the protocol revisions of servers");
        }
    }

    /// True if exactly this definition was approved.
    pub fn is_approved(&self, at: &ServerAddress, tool: &Listed) -> bool {
        let server = &at.name();
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        if !known(&approved, server, tool) {
            // Another process may have approved it meanwhile.
            approved.extend(read::<Approvals>(&self.folder.join(APPROVED), 1));
        }
        known(&approved, server, tool)
    }

    /// Approves the server's current tools, and no earlier ones.
    pub fn approve(&self, at: &ServerAddress, tools: &[Listed]) -> io::Result<()> {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = tools.iter().map(|tool| (tool.name.clone(), tool.pinned())).collect();
        approved.insert(at.name(), tools);
        self.write(APPROVED, &*approved)
    }

    /// Approves the server's current tools. Evicts pins of tools it no longer lists when the store
    /// is full. Blocks on the disk.
    pub fn accept(&self, at: &ServerAddress, tools: &[Listed]) -> io::Result<()> {
        self.approve(at, tools)?;
        self.with_pins(at, |known| {
            let set = |known: &mut PinnedTools| {
                tools.iter().try_for_each(|tool| known.set(&tool.name, &tool.definition()))
            };
            set(known).or_else(|_| {
                known.keep(&tools.iter().map(|tool| &*tool.name).collect());
                set(known)
            })
        })
        .map_err(io::Error::other)
    }

    /// Runs `act` on the pins of the server's address, including approvals by another process, and
    /// saves changes. Blocks on the disk.
    pub fn with_pins<T>(&self, at: &ServerAddress, act: impl FnOnce(&mut PinnedTools) -> T) -> T {
        let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        self.read_pins(&mut pinned);
        let everybodys = at.owner.map(|_| ServerAddress { owner: None, ..at.clone() });
        let everybodys = everybodys.and_then(|it| pinned.all.get(&it.key()).cloned());
        let tools = pinned.all.remove(&at.key()).unwrap_or_default();
        let mut known = PinnedTools::new(tools, everybodys.unwrap_or_default());
        let done = act(&mut known);
        let is_changed = known.is_changed();
        pinned.all.insert(at.key(), known.into_tools());
        if is_changed {
            match self.write_pins(&pinned.all) {
                Ok(()) => pinned.read = self.state_of_pins(),
                Err(error) => tracing::warn!(%error, "cannot save the definitions of tools"),
            }
        }
        done
    }

    /// Rereads the file of pins if it changed.
    fn read_pins(&self, known: &mut KnownPins) {
        let state = self.state_of_pins();
        if state.is_none() || state == known.read {
            return;
        }
        let path = self.folder.join(PINNED);
        known.all.extend(match version(&path) {
            Some(1) => of_whole(read::<WholePins>(&path, 1)),
            _ => read::<Pins>(&path, PINS_VERSION),
        });
        known.read = state;
    }

    /// Modification time and size of the file of pins; `None`: no file.
    fn state_of_pins(&self) -> Option<(SystemTime, u64)> {
        let about = fs::metadata(self.folder.join(PINNED)).ok()?;
        Some((about.modified().ok()?, about.len()))
    }

    fn write_pins(&self, pins: &Pins) -> io::Result<()> {
        let content = serde_json::to_vec(&File { version: PINS_VERSION, servers: pins })?;
        files::replace_private(&self.folder.join(PINNED), &content)
    }

    fn write<T: Serialize>(&self, name: &str, servers: &T) -> io::Result<()> {
        let content = serde_json::to_vec_pretty(&File { version: 1, servers })?;
        files::replace_private(&self.folder.join(name), &content)
    }
}

fn known(approved: &Approvals, server: &str, tool: &Listed) -> bool {
    approved.get(server).and_then(|tools| tools.get(&tool.name)) == Some(&tool.pinned())
}

/// Format version of a file; `None`: unreadable.
fn version(path: &Path) -> Option<u32> {
    serde_json::from_slice::<File<IgnoredAny>>(&files::read_own(path).ok()?)
        .ok()
        .map(|file| file.version)
}

/// Pins of version 1, as far as the limits allow.
fn of_whole(servers: WholePins) -> Pins {
    let short = |tools: BTreeMap<String, Value>| {
        let mut known = PinnedTools::default();
        for (name, definition) in tools {
            // A definition that does not fit counts as new.
            _ = known.set(&name, &definition);
        }
        known.into_tools()
    };
    servers.into_iter().map(|(place, tools)| (place, short(tools))).collect()
}

/// Content of `path` in version `wanted`; empty if missing or unreadable.
fn read<T: DeserializeOwned + Default>(path: &Path, wanted: u32) -> T {
    let text = match files::read_own(path) {
        Ok(text) => text,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(path = %path.display(), %error, "cannot read a file");
            }
            return T::default();
        }
    };
    match serde_json::from_slice::<File<T>>(&text) {
        Ok(file) if file.version == wanted => file.servers,
        Ok(file) => {
            let version = file.version;
            tracing::warn!(path = %path.display(), version, "other version, so it counts as empty");
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
    fn eras_and_approvals_survive_reopening() {
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
    fn approvals_and_pins_are_separate_per_guild() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = RememberedServers::open(folder.path());
        let [first, second] = [1, 2].map(|guild| of(Some(Owner::Guild(guild)), "home"));
        let pin = |at: &ServerAddress, words: &str| {
            kept.with_pins(at, |known| known.set("get", &listed(words).definition())).unwrap();
        };
        let pinned = |at: &ServerAddress| kept.with_pins(at, |known| known.get("get").cloned());
        kept.approve(&first, &[listed("gets")]).expect("written");
        kept.set_era(&first, Era::Stateless);
        pin(&first, "gets");
        for other in [&second, &of(None, "home")] {
            assert!(!kept.is_approved(other, &listed("gets")));
            assert_eq!((kept.era(other), pinned(other)), (None, None));
        }
        // Pins stored before guilds were kept apart still hold for servers that these have added.
        pin(&of(None, "home"), "got");
        assert_eq!(pinned(&second), Some(Pin::of(&listed("got").definition())));
        assert_eq!(pinned(&first), Some(Pin::of(&listed("gets").definition())));
        pin(&second, "has got");
        assert_eq!(pinned(&of(None, "home")), Some(Pin::of(&listed("got").definition())));
    }

    #[test]
    fn damaged_file_approves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("mcp-approved.json"), "{").expect("written");
        assert!(
            !RememberedServers::open(folder.path()).is_approved(&of(None, "home"), &listed("gets"))
        );
    }

    #[test]
    fn pins_of_version_1_are_still_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = of(None, "home");
        let (gets, large) = (listed("gets").definition(), listed(&"x".repeat(10_000)).definition());
        let tools = json!({"get": gets, "large": large});
        let old = json!({"version": 1, "servers": {home.key(): tools}});
        let path = folder.path().join(PINNED);
        fs::write(&path, old.to_string()).expect("written");
        for _ in 0..2 {
            let kept = RememberedServers::open(folder.path());
            let known = |name: &str| kept.with_pins(&home, |known| known.get(name).cloned());
            assert_eq!(known("get"), Some(Pin::of(&gets)));
            assert_eq!(known("large"), Some(Pin::of(&large)));
            let new = kept.with_pins(&home, |known| known.set("new", &gets));
            assert_eq!(new, Ok(()));
        }
        // Definitions written by another run are seen.
        let (one, other) =
            (RememberedServers::open(folder.path()), RememberedServers::open(folder.path()));
        one.with_pins(&home, |known| known.set("get", &large)).unwrap();
        let known = other.with_pins(&home, |known| known.get("get").cloned());
        assert_eq!(known, Some(Pin::of(&large)));
        assert_eq!(version(&path), Some(PINS_VERSION));
    }
}
