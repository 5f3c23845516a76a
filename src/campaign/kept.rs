//! Stored sessions: those of this machine, one file each. Those of servers lie in the store
//! (`kept_store.rs`), and in such a file only while it is away. Entry type: [`KeptSession`].
//! **Never**: writes half a file, or continues in one scope what was said in another.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::JoinError;

use super::{
    file_error::{FileError, read_if_there},
    hold::SessionHold,
};
use crate::{
    domain::{Message, Owner, Person, Scope, redact},
    engine::forget_exchanges,
    files,
    memory::{self, KeptTable},
    session::Continuation,
};

const ID_MAX: usize = 64;

#[derive(Clone)]
pub struct KeptSession {
    id: String,
    path: Option<PathBuf>,
    content: Content,
    /// It is in the store, unless that is away.
    is_stored: bool,
    /// The file names no owner.
    is_unclaimed: bool,
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Content {
    version: u32,
    /// Number of changes in the store; 0 in files that were never there.
    revision: u64,
    /// Owner and campaign; earlier versions did not store them.
    scope: Option<Scope>,
    histories: BTreeMap<String, Vec<Message>>,
    /// State of the table; earlier versions did not store it.
    continuation: Option<Continuation>,
    spent: f64,
}

impl Content {
    fn read(path: &Path) -> Result<Self, KeptError> {
        read_if_there(path)?.map_or_else(|| Ok(Self::default()), |text| Self::of(&text, path))
    }

    /// Parses `text` from `path`.
    fn of(text: &[u8], path: &Path) -> Result<Self, KeptError> {
        let content: Self = serde_json::from_slice(text)
            .map_err(|error| KeptError::Foreign { path: path.to_owned(), error })?;
        match content.version > VERSION {
            true => Err(KeptError::Newer(path.to_owned())),
            false => Ok(content),
        }
    }

    const fn is_unclaimed(&self) -> bool {
        self.scope.is_none() && self.version > 0
    }

    /// As written, without credentials.
    fn written(&mut self) -> io::Result<String> {
        self.version = VERSION;
        self.histories.values_mut().flatten().for_each(hide_credentials);
        Ok(serde_json::to_string(self)?)
    }
}

/// The written format; 1 has no summaries, 2 no scope.
const VERSION: u32 = 3;

/// Prefix of names of Discord's sessions; the server's id follows.
const DISCORD: &str = "discord-";
/// Start of names of sessions of `glyphoxa serve`.
const HERE: &str = "serve-";

#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// The name makes no file name.
    #[error("invalid session name '{0}' (use letters, digits, '-', '_' and '.', at most {ID_MAX})")]
    Name(String),
    /// The file holds something else.
    #[error("'{}' is not a saved session (move it away to start over): {error}", .path.display())]
    Foreign { path: PathBuf, error: serde_json::Error },
    /// A newer version has written it.
    #[error("'{}' was saved by a newer version (update glyphoxa)", .0.display())]
    Newer(PathBuf),
    /// Another owner's, or of another campaign.
    #[error("session '{id}' belongs to {whose}, not to {asked} (choose another name)")]
    Elsewhere {
        id: String,
        /// Its scope, or its owner if no scope is stored, in words.
        whose: String,
        asked: Scope,
    },
    #[error("session '{0}' is open in another program (end it there, or choose another name)")]
    Busy(String),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Store(#[from] memory::Error),
    /// The task that used the file has failed.
    #[error(transparent)]
    Lost(#[from] JoinError),
}

impl KeptSession {
    /// A session that is not stored.
    pub fn unkept() -> Self {
        Self {
            id: "unkept".to_owned(),
            path: None,
            content: Content::default(),
            is_stored: false,
            is_unclaimed: false,
        }
    }

    /// Opens or begins the session `id`. Fails on an invalid name or file, or another scope.
    pub fn open(data_dir: &Path, id: &str, scope: &Scope) -> Result<Self, KeptError> {
        Self::of_anybody(data_dir, id)?.claimed_by(scope)
    }

    /// Fails if it is of another scope.
    pub(super) fn claimed_by(mut self, scope: &Scope) -> Result<Self, KeptError> {
        let elsewhere = match &self.content.scope {
            Some(whose) => (whose != scope).then(|| whose.to_string()),
            None => match owner_of(&self.id) {
                Owner::Guild(guild) if scope.owner != Owner::Guild(guild) => {
                    Some(format!("the Discord server {guild}"))
                }
                Owner::Local if scope.owner != Owner::Local => Some("this machine".to_owned()),
                _ => None,
            },
        };
        if let Some(whose) = elsewhere {
            return Err(KeptError::Elsewhere { id: self.id, whose, asked: scope.clone() });
        }
        self.content.scope = Some(scope.clone());
        Ok(self)
    }

    /// Like [`KeptSession::open`], for any owner: for deletion.
    pub fn of_anybody(data_dir: &Path, id: &str) -> Result<Self, KeptError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.is_empty() || id.len() > ID_MAX || id.starts_with('.') || !id.chars().all(plain) {
            return Err(KeptError::Name(id.to_owned()));
        }
        let path = data_dir.join("sessions").join(format!("{id}.json"));
        let content = Content::read(&path)?;
        let is_unclaimed = content.is_unclaimed();
        Ok(Self { id: id.to_owned(), path: Some(path), content, is_stored: false, is_unclaimed })
    }

    /// Reserves the current session for this program until the result is dropped; `None` for a
    /// session that is not stored. Fails if another program has it.
    pub fn hold(&mut self) -> Result<Option<SessionHold>, KeptError> {
        let Some(path) = &self.path else { return Ok(None) };
        let hold = SessionHold::take(path.with_extension("lock"))?;
        let hold = hold.ok_or_else(|| KeptError::Busy(self.id.clone()))?;
        // The previous holder may have saved more.
        if !self.is_stored {
            let scope = self.content.scope.take();
            self.content = Content { scope, ..Content::read(path)? };
        }
        Ok(Some(hold))
    }

    /// True if an earlier version has stored it, without its campaign.
    pub const fn is_unclaimed(&self) -> bool {
        self.is_unclaimed
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its file, which a stored one may lack; `None` for a session that is not stored.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// True if it is in the store, not in a file.
    pub(super) const fn is_stored(&self) -> bool {
        self.is_stored
    }

    /// True if it was ever saved.
    pub(super) const fn is_written(&self) -> bool {
        self.content.version > 0
    }

    pub(super) const fn revision(&self) -> u64 {
        self.content.revision
    }

    /// Counts a change, beyond the revision `stored`.
    pub(super) fn revise(&mut self, stored: u64) {
        self.content.revision = self.content.revision.max(stored) + 1;
    }

    /// With its state in the store: `table`, or the file's without one.
    pub(super) fn in_store(mut self, table: Option<&KeptTable>) -> Result<Self, KeptError> {
        if let Some(table) = table {
            let content = Content::of(table.text.as_bytes(), Path::new(&self.id))?;
            self.content = Content { revision: table.revision, ..content };
            self.is_unclaimed = self.content.is_unclaimed();
        }
        self.is_stored = true;
        Ok(self)
    }

    /// Its state for the store.
    pub(super) fn table(&mut self) -> Result<KeptTable, KeptError> {
        let text = self.content.written().map_err(FileError::on("save", Path::new(&self.id)))?;
        Ok(KeptTable { revision: self.content.revision, text })
    }

    /// Sets an NPC's conversation.
    pub(super) fn converse(&mut self, npc: &str, messages: &[Message]) {
        self.content.histories.insert(npc.to_owned(), messages.to_vec());
    }

    pub(super) const fn set_spent(&mut self, spent: f64) {
        self.content.spent = spent;
    }

    /// The conversations it continues, by NPC.
    pub fn histories(&self) -> BTreeMap<String, Vec<Message>> {
        // Keep the conversations of NPCs outside today's cast.
        self.content.histories.clone()
    }

    /// State of the table when it was closed; `None`: never open.
    pub fn continuation(&self) -> Option<Continuation> {
        self.content.continuation.clone()
    }

    /// Sets the state that the next [`KeptSession::save`] stores.
    pub fn continue_with(&mut self, continuation: Continuation) {
        self.content.continuation = Some(continuation);
    }

    /// Stores the state of the running table, leaving the rest of the file unchanged. Blocks.
    pub fn stands(
        data_dir: &Path,
        id: &str,
        scope: &Scope,
        continuation: &Continuation,
    ) -> Result<(), KeptError> {
        let mut kept = Self::open(data_dir, id, scope)?;
        kept.continue_with(continuation.clone());
        Ok(kept.write()?)
    }

    /// Money spent.
    pub fn spent(&self) -> f64 {
        self.content.spent
    }

    /// Log of tool calls; `None` for a session that is not stored.
    pub fn call_log(&self) -> Option<PathBuf> {
        self.path.as_ref().map(|path| path.with_extension("calls.jsonl"))
    }

    /// Deletes its files; true if any existed.
    pub fn delete(self) -> Result<bool, FileError> {
        let mut had_any = false;
        for path in self.call_log().into_iter().chain(self.path) {
            match fs::remove_file(&path) {
                Ok(()) => had_any = true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(FileError::on("delete", &path)(error)),
            }
        }
        Ok(had_any)
    }

    /// Number of messages in exchanges that `person` began, notes that name them, and their pins.
    pub fn messages_of(&self, person: &Person) -> usize {
        let theirs = |history: &Vec<Message>| {
            let mut left = history.clone();
            forget_exchanges(&mut left, person);
            history.len() - left.len()
        };
        let messages: usize = self.content.histories.values().map(theirs).sum();
        messages + self.content.continuation.as_ref().map_or(0, |it| it.entries_of(&person.id))
    }

    /// Forgets all that [`Self::messages_of`] counts, in memory only.
    pub fn leave_out(&mut self, person: &Person) {
        self.content.histories.values_mut().for_each(|it| forget_exchanges(it, person));
        self.content.continuation.iter_mut().for_each(|it| it.forget(&person.id));
    }

    /// Forgets all that [`Self::messages_of`] counts, and writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn forget(mut self, person: &Person) -> Result<(), FileError> {
        if self.messages_of(person) == 0 {
            return Ok(());
        }
        self.leave_out(person);
        self.write()
    }

    /// Stores the conversations and the money spent.
    pub fn save(
        mut self,
        histories: BTreeMap<String, Vec<Message>>,
        spent: f64,
    ) -> Result<(), FileError> {
        self.content.histories.extend(histories);
        self.content.spent = spent;
        self.write()
    }

    /// Writes its file. Blocks.
    pub(super) fn write(mut self) -> Result<(), FileError> {
        let Some(path) = self.path else { return Ok(()) };
        let content = self.content.written();
        let replaced = content.and_then(|text| files::replace_private(&path, text.as_bytes()));
        replaced.map_err(FileError::on("save the session in", &path))
    }
}

/// Redacts credentials and the arguments that the call log redacts too.
fn hide_credentials(message: &mut Message) {
    let text = match message {
        Message::User(said) => &mut said.text,
        Message::System(text)
        | Message::Summary { text, .. }
        | Message::Tool { content: text, .. } => text,
        Message::Assistant { text, calls, .. } => {
            for call in calls {
                call.arguments = match serde_json::from_str::<Value>(&call.arguments) {
                    Ok(arguments) => redact::json(&arguments).to_string(),
                    Err(_) => redact::text(&call.arguments),
                };
            }
            text
        }
    };
    if redact::holds_credential(text) {
        *text = redact::without_credentials(text);
    }
}

/// Owner of a session with this name.
pub fn owner_of(id: &str) -> Owner {
    let guild = id.strip_prefix(DISCORD).and_then(|rest| rest.split_once('-'));
    guild.and_then(|(guild, _)| guild.parse().ok()).map_or(Owner::Local, Owner::Guild)
}

/// Name of a session of this machine that began at `since`, in seconds since 1970.
pub fn name_here(since: u64) -> String {
    format!("{HERE}{since}")
}

/// Name of a session of `guild` that began at `since`, in seconds since 1970.
pub fn name_of(guild: u64, since: u64) -> String {
    format!("{DISCORD}{guild}-{since}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::domain::{CallId, CampaignKey, PersonId, ToolCall};

    /// As a table writes it.
    const STATE: &str = r#"{"muted": ["Bartok"], "carded": [], "location": null,
        "time_of_day": "dusk", "present": ["Bartok"], "absent": [], "paused": true,
        "tiers": [{"npc": null, "tier": "deep", "until": 1800000000000}],
        "next_tiers": {"Bartok": "fast"},
        "notes": [{"npc": "Bartok", "text": "You fear Thorin.", "turns": 3, "about": ["1"]},
                  {"npc": "Gundren", "text": "You are cold.", "turns": null, "about": []}],
        "pins": [{"player": {"speaker": 1, "person": "1"}, "npc": "Bartok"},
                 {"player": null, "npc": "Gundren"}],
        "music": {"volume": 40, "playing": [{"title": "Inn", "ms": 2000}], "at": 1800000000000}}"#;

    #[test]
    fn state_of_the_table_is_kept_and_forgets() {
        let folder = tempfile::tempdir().unwrap();
        let scope = Scope::local(CampaignKey("x".into()));
        let open = || KeptSession::open(folder.path(), "x", &scope).unwrap();
        let state: Continuation = serde_json::from_str(STATE).unwrap();
        assert_eq!(serde_json::to_value(&state).unwrap(), json_of(STATE));
        KeptSession::stands(folder.path(), "x", &scope, &state).unwrap();
        assert_eq!(open().continuation(), Some(state));
        let person = Person { id: PersonId("1".to_owned()), names: Vec::new() };
        assert_eq!(open().messages_of(&person), 2);
        open().forget(&person).unwrap();
        assert_eq!(open().messages_of(&person), 0);
        let left = open().continuation().unwrap();
        assert_eq!((left.notes.len(), left.pins.len(), left.tiers.len()), (1, 1, 1));
    }

    fn json_of(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn kept_conversation_hides_what_the_log_hides() {
        let folder = tempfile::tempdir().unwrap();
        let scope = Scope::local(CampaignKey("x".into()));
        let call = ToolCall {
            id: CallId("a".into()),
            name: "login".into(),
            arguments: json!({"user": "mira", "password": "hunter2"}).to_string(),
            extra: Map::new(),
        };
        let text = "It is sk-proj-0123456789abcdef, friend.".to_owned();
        let messages = vec![Message::Assistant { text, calls: vec![call], gated: false }];
        let kept = KeptSession::open(folder.path(), "x", &scope).unwrap();
        kept.save(BTreeMap::from([("hale".to_owned(), messages)]), 0.0).unwrap();
        let file = fs::read_to_string(folder.path().join("sessions/x.json")).unwrap();
        assert!(file.contains("mira") && file.contains("friend"), "{file}");
        assert!(!file.contains("hunter2") && !file.contains("sk-proj"), "{file}");
    }
}
