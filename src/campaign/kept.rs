//! Sessions that go on later: one file each.
//!
//! Entry type: [`KeptSession`]. **Never**: half-writes a file, goes on in one scope with what was said
//! in another.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    file_error::{FileError, read_if_there},
    hold::SessionHold,
};
use crate::{
    domain::{Message, Owner, Person, Scope, redact},
    engine::forget_exchanges,
    files,
    session::Continuation,
};

/// Longest name of a session.
const ID_MAX: usize = 64;

/// A session's file and what was in it.
pub struct KeptSession {
    id: String,
    path: Option<PathBuf>,
    content: Content,
    /// Its file does not say whose it is.
    is_unclaimed: bool,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Content {
    version: u32,
    /// Owner and campaign; earlier versions did not store them.
    scope: Option<Scope>,
    histories: BTreeMap<String, Vec<Message>>,
    /// State of the table; earlier versions did not store it.
    continuation: Option<Continuation>,
    spent: f64,
}

impl Content {
    /// Content of the file at `path`; the default without a file.
    fn read(path: &Path) -> Result<Self, KeptError> {
        let content: Self = match read_if_there(path)? {
            Some(text) => serde_json::from_slice(&text)
                .map_err(|error| KeptError::Foreign { path: path.to_owned(), error })?,
            None => Self::default(),
        };
        match content.version > VERSION {
            true => Err(KeptError::Newer(path.to_owned())),
            false => Ok(content),
        }
    }
}

/// The format written; 1 has no summaries, 2 no scope.
const VERSION: u32 = 3;

/// Prefix of the names of Discord's sessions, before the server's id.
const DISCORD: &str = "discord-";

/// A session that cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// Its name is none.
    #[error("invalid session name '{0}' (use letters, digits, '-', '_' and '.', at most {ID_MAX})")]
    Name(String),
    /// Its file holds something else.
    #[error("'{}' is not a saved session (move it away to start over): {error}", .path.display())]
    Foreign {
        /// The file that is none of ours.
        path: PathBuf,
        /// The parser's error.
        error: serde_json::Error,
    },
    /// A newer version has kept it.
    #[error("'{}' was saved by a newer version (update glyphoxa)", .0.display())]
    Newer(PathBuf),
    /// It is somebody else's, or of another campaign.
    #[error("session '{id}' belongs to {whose}, not to {asked} (choose another name)")]
    Elsewhere {
        /// Name of the session.
        id: String,
        /// Its scope, or its owner where no scope is stored, in words.
        whose: String,
        /// The scope that asked for it.
        asked: Scope,
    },
    /// Another program plays it.
    #[error("session '{0}' is open in another program (end it there, or choose another name)")]
    Busy(String),
    /// Its file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

impl KeptSession {
    /// A session that is forgotten at the end.
    pub fn unkept() -> Self {
        Self {
            id: "unkept".to_owned(),
            path: None,
            content: Content::default(),
            is_unclaimed: false,
        }
    }

    /// The session `id` of `scope` under `data_dir`; a new one when there is none.
    ///
    /// # Errors
    /// A name that makes no file name, a file that is no session, of a newer version or another scope.
    pub fn open(data_dir: &Path, id: &str, scope: &Scope) -> Result<Self, KeptError> {
        let mut kept = Self::of_anybody(data_dir, id)?;
        let elsewhere = match &kept.content.scope {
            Some(whose) => (whose != scope).then(|| whose.to_string()),
            None => match owner_of(id) {
                Owner::Guild(guild) if scope.owner != Owner::Guild(guild) => {
                    Some(format!("the Discord server {guild}"))
                }
                Owner::Local if scope.owner != Owner::Local => Some("this machine".to_owned()),
                _ => None,
            },
        };
        if let Some(whose) = elsewhere {
            return Err(KeptError::Elsewhere { id: kept.id, whose, asked: scope.clone() });
        }
        kept.content.scope = Some(scope.clone());
        Ok(kept)
    }

    /// Like [`KeptSession::open`], of any owner: for deletion.
    ///
    /// # Errors
    /// Those of [`KeptSession::open`], except for the scope.
    pub fn of_anybody(data_dir: &Path, id: &str) -> Result<Self, KeptError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.is_empty() || id.len() > ID_MAX || id.starts_with('.') || !id.chars().all(plain) {
            return Err(KeptError::Name(id.to_owned()));
        }
        let path = data_dir.join("sessions").join(format!("{id}.json"));
        let content = Content::read(&path)?;
        let is_unclaimed = content.scope.is_none() && content.version > 0;
        Ok(Self { id: id.to_owned(), path: Some(path), content, is_unclaimed })
    }

    /// Takes it, as it is now, for this program alone, until what is returned is dropped; `None` for a
    /// session that is forgotten. Other programs neither play nor delete it meanwhile.
    ///
    /// # Errors
    /// Another program has it, or its folder cannot be written.
    pub fn hold(&mut self) -> Result<Option<SessionHold>, KeptError> {
        let Some(path) = &self.path else { return Ok(None) };
        let hold = SessionHold::take(path.with_extension("lock"))?;
        let hold = hold.ok_or_else(|| KeptError::Busy(self.id.clone()))?;
        // The previous holder may have saved more.
        let scope = self.content.scope.take();
        self.content = Content { scope, ..Content::read(path)? };
        Ok(Some(hold))
    }

    /// True if an earlier version has kept it, which did not say of which campaign it is.
    pub const fn is_unclaimed(&self) -> bool {
        self.is_unclaimed
    }

    /// Its name, "unkept" for one that is forgotten.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The conversations it goes on from, by NPC.
    pub fn histories(&self) -> BTreeMap<String, Vec<Message>> {
        // NPCs that are not in the cast today keep their conversation.
        self.content.histories.clone()
    }

    /// State of the table when it was closed; `None`: it was never open.
    pub fn continuation(&self) -> Option<Continuation> {
        self.content.continuation.clone()
    }

    /// Keeps how the table stands, with the next [`KeptSession::save`].
    pub fn continue_with(&mut self, continuation: Continuation) {
        self.content.continuation = Some(continuation);
    }

    /// Keeps how the table of session `id` of `scope` stands while it is played, and leaves everything
    /// else in its file as it is. Blocks.
    ///
    /// # Errors
    /// Its file is of no use, or cannot be written.
    pub fn stands(
        data_dir: &Path,
        id: &str,
        scope: &Scope,
        continuation: &Continuation,
    ) -> Result<(), KeptError> {
        let mut kept = Self::open(data_dir, id, scope)?;
        let spent = kept.spent();
        kept.continue_with(continuation.clone());
        Ok(kept.save(BTreeMap::new(), spent)?)
    }

    /// Money it has spent.
    pub fn spent(&self) -> f64 {
        self.content.spent
    }

    /// Log of its tool calls, a JSON object per line; `None` for a session that is forgotten.
    pub fn call_log(&self) -> Option<PathBuf> {
        self.path.as_ref().map(|path| path.with_extension("calls.jsonl"))
    }

    /// Deletes its files; whether there were any.
    ///
    /// # Errors
    /// One cannot be deleted.
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

    /// Number of messages in the exchanges that `person` began.
    pub fn messages_of(&self, person: &Person) -> usize {
        let theirs = |history: &Vec<Message>| {
            let mut left = history.clone();
            forget_exchanges(&mut left, person);
            history.len() - left.len()
        };
        self.content.histories.values().map(theirs).sum()
    }

    /// Forgets the exchanges that somebody began, here and not yet in the file.
    pub fn leave_out(&mut self, person: &Person) {
        self.content.histories.values_mut().for_each(|it| forget_exchanges(it, person));
    }

    /// Forgets the exchanges that somebody began.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn forget(mut self, person: &Person) -> Result<(), FileError> {
        if self.messages_of(person) == 0 {
            return Ok(());
        }
        self.leave_out(person);
        let spent = self.content.spent;
        self.save(BTreeMap::new(), spent)
    }

    /// Keeps what came of it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(
        mut self,
        histories: BTreeMap<String, Vec<Message>>,
        spent: f64,
    ) -> Result<(), FileError> {
        let Some(path) = self.path else { return Ok(()) };
        self.content.histories.extend(histories);
        self.content.spent = spent;
        self.content.version = VERSION;
        self.content.histories.values_mut().flatten().for_each(hide_credentials);
        let content = serde_json::to_vec(&self.content).map_err(io::Error::from);
        let replaced = content.and_then(|content| files::replace_private(&path, &content));
        replaced.map_err(FileError::on("save the session in", &path))
    }
}

/// Hides what no file holds: credentials, and the same arguments as in the call log.
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

/// Owner of a session of this name.
pub fn owner_of(id: &str) -> Owner {
    let guild = id.strip_prefix(DISCORD).and_then(|rest| rest.split_once('-'));
    guild.and_then(|(guild, _)| guild.parse().ok()).map_or(Owner::Local, Owner::Guild)
}

/// The name of a session of `guild` that began so many seconds after 1970.
pub fn name_of(guild: u64, since: u64) -> String {
    format!("{DISCORD}{guild}-{since}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::domain::{CallId, CampaignKey, ToolCall};

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
