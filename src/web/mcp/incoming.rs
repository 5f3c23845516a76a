//! One call of a tool, and its answer. Entry type: [`Incoming`].

use std::{
    any::Any,
    fmt::Display,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    campaign::{
        FileError, GuildError, Handles, Holder, ImportError, OutsideError, RecapError,
        ScheduleError, TableHere, Utterance48, way_to_table,
    },
    domain::{Owner, Scope},
    memory::{self, MemoryStore, SessionEntry, Viewer},
    web::WebParts,
};

/// Why a call failed, with the fix; the caller reads it.
#[derive(Debug)]
pub struct ToolError(pub String);

impl<E: Display + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        if !is_ours(&error) {
            return Self(error.to_string());
        }
        tracing::warn!(%error, "a call of a program outside has failed");
        Self("glyphoxa failed (try again in a minute; its log says why)".to_owned())
    }
}

/// True for faults that the caller cannot fix: their texts name files, their content, and hosts.
fn is_ours(error: &dyn Any) -> bool {
    let of_recap = error.downcast_ref::<RecapError>();
    let of_schedule = error.downcast_ref::<ScheduleError>();
    let of_table = error.downcast_ref::<OutsideError>();
    error.is::<memory::Error>()
        || error.is::<GuildError>()
        || error.is::<ImportError>()
        || error.is::<FileError>()
        || matches!(of_recap, Some(RecapError::Store(_) | RecapError::Model(_)))
        || matches!(of_schedule, Some(ScheduleError::Store(_)))
        || matches!(of_table, Some(OutsideError::Ledger(_) | OutsideError::Settings(_)))
}

/// Result of a call.
pub struct ToolAnswer {
    /// An object that fits the tool's output schema.
    pub value: Value,
    pub sound: Option<Utterance48>,
}

impl From<Value> for ToolAnswer {
    fn from(value: Value) -> Self {
        Self { value, sound: None }
    }
}

/// Sends progress to the caller, if it gave a token for it.
#[derive(Default)]
pub struct CallProgress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    steps: AtomicU32,
}

impl CallProgress {
    pub fn new(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { to: token.map(|token| (context.peer.clone(), token)), steps: AtomicU32::new(0) }
    }

    /// Reports one more step. Cancel safe.
    pub async fn report(&self, message: String) {
        let Some((peer, token)) = &self.to else { return };
        let step = self.steps.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
        // The caller may have left; its call is then cancelled.
        _ = peer.notify_progress(progress.with_message(message)).await;
    }
}

/// A call with checked rights and arguments.
pub struct Incoming {
    pub parts: Arc<WebParts>,
    pub holder: Arc<Holder>,
    /// Fit the tool's schema.
    pub arguments: Value,
    pub progress: CallProgress,
}

impl Incoming {
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        read(&self.arguments)
    }

    pub fn handles(&self) -> &Handles {
        &self.parts.handles
    }

    pub fn owner(&self) -> Owner {
        self.holder.owner
    }

    pub fn is_dm(&self) -> bool {
        self.holder.is_dm()
    }

    /// For whom memory is read.
    pub fn viewer(&self) -> Viewer {
        self.holder.viewer()
    }

    pub fn store(&self) -> Arc<dyn MemoryStore> {
        self.handles().sessions.transcripts().store()
    }

    /// Resolves soon after the caller's token has ended, for what goes on after the call.
    pub fn token_ends(&self) -> impl Future<Output = ()> + Send + use<> {
        let (access, holder) = (self.handles().access.clone(), Arc::clone(&self.holder));
        async move { access.ended(&holder).await }
    }

    /// The table of this id; without one, the newest.
    pub fn table(&self, id: Option<&str>) -> Result<Option<TableHere>, ToolError> {
        Ok(self.handles().outside.table(self.owner(), id)?)
    }

    /// The campaign that the table plays; without a table, the one its owner has chosen.
    pub async fn scope(&self, table: Option<&TableHere>) -> Result<Scope, ToolError> {
        Ok(self.handles().outside.scope(self.owner(), table).await?)
    }

    /// The campaign that is played now.
    pub async fn played(&self) -> Result<Scope, ToolError> {
        Ok(self.handles().outside.played(self.owner()).await?)
    }

    /// The session of this id, in any campaign of the owner; without one, the last in which something
    /// was said. All lines so far are stored.
    pub async fn session(&self, id: Option<&str>) -> Result<(Scope, SessionEntry), ToolError> {
        self.handles().sessions.caught_up().await?;
        let found = self.handles().recaps.session(self.owner(), id).await?;
        found.ok_or_else(|| match id {
            Some(id) => {
                format!("unknown session '{id}' (resources/list has those there are)").into()
            }
            None => format!("no session was played yet ({})", way_to_table(self.owner())).into(),
        })
    }
}

/// Arguments as a tool takes them; an error names the one that does not fit.
fn read<T: DeserializeOwned>(given: &Value) -> Result<T, ToolError> {
    let mut arguments = given.clone();
    for value in arguments.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if let Some(whole) = whole(value) {
            *value = whole.into();
        }
    }
    let error = match serde_json::from_value(arguments.clone()) {
        Ok(read) => return Ok(read),
        Err(error) => error.to_string(),
    };
    let is_cause = |name: &&String| {
        let mut others = arguments.clone();
        if let Some(all) = others.as_object_mut() {
            all.remove(*name);
        }
        serde_json::from_value::<T>(others)
            .map_or_else(|other| other.to_string() != error, |_| true)
    };
    let mut names = given.as_object().into_iter().flat_map(Map::keys);
    Err(match names.find(is_cause) {
        Some(name) => format!("the argument '{name}' does not fit: {error}").into(),
        None => format!("the arguments do not fit: {error}").into(),
    })
}

/// The integer that a number like 5.0 is in JSON Schema.
fn whole(value: &Value) -> Option<i64> {
    let Value::Number(number) = value else { return None };
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
    format!("{float:.0}").parse().ok()
}

#[cfg(test)]
mod tests {
    use std::{io, path::Path};

    use serde_json::json;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct Wanted {
        name: String,
        limit: Option<u32>,
    }

    #[test]
    fn whole_floats_are_integers() {
        let read = |limit: Value| read::<Wanted>(&json!({ "name": "gate", "limit": limit }));
        let Wanted { name, limit } = read(json!(5.0)).unwrap();
        assert_eq!((name.as_str(), limit), ("gate", Some(5)));
        for wrong in [json!(5.5), json!(-1.0), json!(1e300)] {
            let error = read(wrong).unwrap_err();
            assert!(error.0.starts_with("the argument 'limit' does not fit: "), "{error:?}");
        }
    }

    #[test]
    fn faults_of_ours_name_no_place() {
        let fault = || memory::Error::Away("PostgreSQL at db.internal: refused".to_owned());
        for error in [
            ToolError::from(fault()),
            GuildError::from(fault()).into(),
            ImportError::from(fault()).into(),
            RecapError::from(fault()).into(),
            ScheduleError::from(fault()).into(),
            OutsideError::from(fault()).into(),
            FileError::on("read", Path::new("/srv/internal"))(io::Error::other("locked")).into(),
        ] {
            assert!(!error.0.contains("internal"), "{error:?}");
        }
        let nothing = RecapError::Nothing;
        assert_eq!(ToolError::from(nothing).0, RecapError::Nothing.to_string());
    }
}
