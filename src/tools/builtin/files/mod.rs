//! `file-io`: an owner's text files of a campaign, below one folder. Paths are resolved by
//! directory handles, so that `..`, symbolic links and absolute paths cannot lead out. Replaced
//! files stay beside the new ones, hidden. **Never**: leaves a file half written.

mod folder;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use self::folder::{Fault, FolderOf};
use super::describe::{Millis, declared, input, text};
use crate::{
    domain::{Owner, Scope, Tier},
    tools::{
        CallContext, CallError, CallErrorKind, CallOutput, Declared, Definition, Handler,
        SideEffects,
    },
};

/// Longest name of a campaign's folder, in characters.
const NAME_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIo {
    pub base: PathBuf,
    pub read_only: bool,
}

impl FileIo {
    /// The folder of `scope`: a guild's campaigns lie in a folder of the guild, this machine's in
    /// the base. The name is the campaign's letters and digits, joined by hyphens.
    fn folder(&self, scope: &Scope) -> FolderOf {
        let words = |c: char| if c.is_alphanumeric() { c } else { ' ' };
        let words: String = scope.campaign.0.chars().map(words).collect();
        let slug = words.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase();
        let slug: String = slug.chars().take(NAME_MAX).collect();
        let name = if slug.is_empty() { "default".to_owned() } else { slug };
        let base = match scope.owner {
            Owner::Local => self.base.clone(),
            Owner::Guild(guild) => self.base.join(format!("guild_{guild}")),
        };
        FolderOf::new(base, name)
    }
}

/// The tools of `file-io`; read-only without `file-io.write_file`.
pub fn tools(files: FileIo) -> Vec<Definition> {
    let may_write = !files.read_only;
    let files = Arc::new(files);
    let path = json!({"type": "string", "description": "such as notes.txt or people/mira.md"});
    let read = Definition {
        name: "read_file".to_owned(),
        description: "Reads a text file from the campaign's folder.".to_owned(),
        input: input(json!({"path": path}), &["path"]),
        output: None,
        declared: Declared {
            read_only: Some(true),
            idempotent: Some(true),
            ..declared("files", Millis { estimated: 20, max: 100 }, Tier::Fast)
        },
        handler: Arc::new(ReadFile { files: Arc::clone(&files) }),
    };
    let write = may_write.then(|| Definition {
        name: "write_file".to_owned(),
        description: "Writes a text file into the campaign's folder; one of the same name is \
                      replaced."
            .to_owned(),
        input: input(
            json!({
                "path": path,
                "content": {"type": "string", "description": "the whole text"},
            }),
            &["path", "content"],
        ),
        output: None,
        declared: Declared {
            idempotent: Some(true),
            effects: Some(SideEffects::Reversible),
            ..declared("files", Millis { estimated: 20, max: 100 }, Tier::Fast)
        },
        handler: Arc::new(WriteFile { files, one_at_a_time: Arc::default() }),
    });
    std::iter::once(read).chain(write).collect()
}

struct ReadFile {
    files: Arc<FileIo>,
}

impl Handler for ReadFile {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        let (files, path) = (
            self.files.folder(&context.scope),
            text(arguments, "path").unwrap_or_default().to_owned(),
        );
        let work = move || {
            let content = files.read(&path)?;
            Ok(json!({"path": path, "bytes": content.len(), "content": content}))
        };
        blocking(work).boxed()
    }
}

struct WriteFile {
    files: Arc<FileIo>,
    /// One writer at a time counts and enforces the limits.
    one_at_a_time: Arc<Mutex<()>>,
}

impl Handler for WriteFile {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        let (files, lock) = (self.files.folder(&context.scope), Arc::clone(&self.one_at_a_time));
        let (path, content) = (
            text(arguments, "path").unwrap_or_default().to_owned(),
            text(arguments, "content").unwrap_or_default().to_owned(),
        );
        async move {
            let dropped = CancellationToken::new();
            let given_up = dropped.clone();
            // Cancelling a call leaves the old file.
            let _guard = dropped.drop_guard();
            let work = move || {
                let _alone = lock.lock().unwrap_or_else(PoisonError::into_inner);
                let replaced = files.write(&path, &content, &|| given_up.is_cancelled())?;
                Ok(json!({"path": path, "bytes": content.len(), "replaced": replaced}))
            };
            blocking(work).await
        }
        .boxed()
    }
}

/// Runs `work` on a blocking thread.
async fn blocking(
    work: impl FnOnce() -> Result<Value, Fault> + Send + 'static,
) -> Result<CallOutput, CallError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(value)) => Ok(CallOutput::json(value)),
        Ok(Err(fault)) => {
            let kind = match fault {
                Fault::Path { .. } | Fault::TooLong => CallErrorKind::InvalidArguments,
                _ => CallErrorKind::Tool,
            };
            Err(CallError::new(kind, fault.to_string()))
        }
        Err(_) => Err(CallError::new(CallErrorKind::Tool, "the file could not be worked on")),
    }
}

#[cfg(test)]
mod tests;
