//! Sessions that go on later: one file each.
//!
//! Entry type: [`KeptSession`]. **Never**: half-writes a file.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::file_error::FileError;
use crate::{domain::Message, engine::forget_exchanges, files};

/// Longest name of a session.
const ID_MAX: usize = 64;

/// A session's file and what was in it.
pub struct KeptSession {
    id: String,
    path: Option<PathBuf>,
    content: Content,
}

#[derive(Default, Serialize, Deserialize)]
struct Content {
    version: u32,
    histories: BTreeMap<String, Vec<Message>>,
    spent: f64,
}

/// The format written; 1 has no summaries.
const VERSION: u32 = 2;

/// A session that cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// Its name is none.
    #[error(
        "session '{0}' makes no file name (letters, digits, '-', '_' and '.', at most {ID_MAX})"
    )]
    Name(String),
    /// Its file holds something else.
    #[error("'{}' is no kept session (move it away to begin anew): {error}", .path.display())]
    Foreign {
        /// The file that is none of ours.
        path: PathBuf,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// A newer version has kept it.
    #[error("'{}' was kept by a newer version (update glyphoxa)", .0.display())]
    Newer(PathBuf),
    /// Its file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

impl KeptSession {
    /// A session that is forgotten at the end.
    pub fn unkept() -> Self {
        Self { id: "unkept".to_owned(), path: None, content: Content::default() }
    }

    /// The session `id` under `data_dir`; a new one when there is none.
    ///
    /// # Errors
    /// A name that makes no file name, a file that is no session, or of a newer version.
    pub fn open(data_dir: &Path, id: &str) -> Result<Self, KeptError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.is_empty() || id.len() > ID_MAX || id.starts_with('.') || !id.chars().all(plain) {
            return Err(KeptError::Name(id.to_owned()));
        }
        let path = data_dir.join("sessions").join(format!("{id}.json"));
        let content = match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| KeptError::Foreign { path: path.clone(), error })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Content::default(),
            Err(error) => return Err(FileError::on("read", &path)(error).into()),
        };
        if content.version > VERSION {
            return Err(KeptError::Newer(path));
        }
        Ok(Self { id: id.to_owned(), path: Some(path), content })
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

    /// Money it has spent.
    pub fn spent(&self) -> f64 {
        self.content.spent
    }

    /// Where its tool calls are logged, a JSON object a line; `None` for a session that is
    /// forgotten.
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

    /// Forgets the exchanges that somebody of these names began.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn forget(mut self, names: &[String]) -> Result<(), FileError> {
        let messages = |content: &Content| content.histories.values().map(Vec::len).sum::<usize>();
        let before = messages(&self.content);
        self.content.histories.values_mut().for_each(|it| forget_exchanges(it, names));
        if messages(&self.content) == before {
            return Ok(());
        }
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
        let content = serde_json::to_vec(&self.content).map_err(io::Error::from);
        let replaced = content.and_then(|content| files::replace_private(&path, &content));
        replaced.map_err(FileError::on("keep the session in", &path))
    }
}
