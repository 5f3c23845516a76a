//! Listing, making and cancelling the schedules of one scope. Entry type: [`Planner`]; entry
//! function: [`schedules_of_program`].

use std::sync::Arc;

use super::{
    entry::{Entry, by_program},
    shared::Shared,
    shown,
};
use crate::{
    campaign::clock::now,
    domain::{PersonId, Scope, visible},
    logic::{
        cast::{NpcError, find_npc},
        schedule::{Planned, WhenError, parse},
    },
    memory::{self, KeptSchedule, MemoryStore},
};

/// Most schedules of a scope: far beyond a campaign.
const SCHEDULES_MAX: usize = 1_000;
/// Longest line, in characters: what an NPC says in about two minutes.
const LINE_MAX: usize = 2_000;
/// Largest inputs of a workflow, in bytes.
const INPUTS_MAX: usize = 16 * 1024;

/// A schedule to be made.
pub struct NewSchedule {
    /// As a game master types it: "at 21:30", "every friday 19:30", "session +20m".
    pub when: String,
    pub action: Planned,
    /// A person, or a program ([`super::by_program`]). `None`: the operator, at the command line.
    pub by: Option<PersonId>,
}

/// Reason why a schedule is not made, listed or cancelled, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    #[error(transparent)]
    When(#[from] WhenError),
    #[error(transparent)]
    Npc(#[from] NpcError),
    #[error("the line is empty (write what the NPC says)")]
    NoLine,
    #[error("the line is too long (up to {LINE_MAX} characters)")]
    LongLine,
    #[error("unknown workflow '{name}' ({instead})")]
    Workflow { name: String, instead: String },
    #[error("invalid inputs (use a JSON object of up to 16 KiB)")]
    Inputs,
    #[error("too many schedules (up to {SCHEDULES_MAX}; cancel one first)")]
    TooMany,
    #[error("unknown schedule '{0}' (list shows them)")]
    Unknown(String),
    #[error(transparent)]
    Store(#[from] memory::Error),
}

/// Schedules of one scope. Cloning shares them.
#[derive(Clone)]
pub struct Planner {
    shared: Arc<Shared>,
    scope: Scope,
}

impl Planner {
    pub const fn new(shared: Arc<Shared>, scope: Scope) -> Self {
        Self { shared, scope }
    }

    /// A person's id in this scope.
    pub fn person(&self, number: u64, name: &str) -> PersonId {
        self.scope.owner.person(number, name)
    }

    /// The schedules, by their next time.
    pub async fn list(&self) -> Result<Vec<Entry>, ScheduleError> {
        Ok(self.shared.read(&self.scope).await?)
    }

    /// Makes a schedule.
    pub async fn create(&self, new: NewSchedule) -> Result<Entry, ScheduleError> {
        let now = now();
        let zone = self.shared.parts.settings.load().schedules.zone.clone();
        let when = parse(&new.when, now, &zone)?;
        let action = self.checked(new.action)?;
        let known = self.list().await?;
        if known.len() >= SCHEDULES_MAX {
            return Err(ScheduleError::TooMany);
        }
        let next = when.next(now, &zone);
        let (id, by) = (fresh_id(&known), new.by);
        let entry = Entry { id, when, action, by, made: now, next, last: None };
        let kept = kept(&entry)?;
        self.shared.parts.store.add_schedule(&self.scope, kept).await?;
        self.shared.changed(&self.scope);
        self.list().await?;
        Ok(entry)
    }

    /// Cancels the schedule of `line`, which begins with its id.
    pub async fn cancel(&self, line: &str) -> Result<String, ScheduleError> {
        let id = line.split_whitespace().next().unwrap_or_default().to_lowercase();
        if !self.shared.parts.store.remove_schedule(&self.scope, &id).await? {
            return Err(ScheduleError::Unknown(id));
        }
        self.shared.changed(&self.scope);
        self.list().await?;
        Ok(id)
    }

    /// Lines of the schedules as last read, each beginning with its id.
    pub fn known(&self) -> Vec<String> {
        self.shared.known(&self.scope)
    }

    /// A schedule in one line.
    pub fn line(&self, entry: &Entry) -> String {
        shown::line(entry, &self.shared.parts.settings.load().schedules.zone)
    }

    /// Checks the action and completes names.
    fn checked(&self, action: Planned) -> Result<Planned, ScheduleError> {
        let settings = self.shared.parts.settings.load();
        match action {
            Planned::Line { npc, text } => {
                let text = visible(&text).trim().to_owned();
                if text.is_empty() {
                    return Err(ScheduleError::NoLine);
                }
                if text.chars().count() > LINE_MAX {
                    return Err(ScheduleError::LongLine);
                }
                let (_, npc) = find_npc(&settings.cast, &npc)?;
                Ok(Planned::Line { npc: npc.name.clone(), text })
            }
            Planned::Workflow { name, inputs } => {
                if settings.workflows.get(&name).is_none() {
                    let all = settings.workflows.iter().map(|it| it.name.as_str());
                    let all = all.collect::<Vec<_>>().join(", ");
                    let instead = match all.is_empty() {
                        true => "put its file into the folder 'workflows'".to_owned(),
                        false => format!("known: {all}"),
                    };
                    return Err(ScheduleError::Workflow { name, instead });
                }
                if !inputs.is_object() || inputs.to_string().len() > INPUTS_MAX {
                    return Err(ScheduleError::Inputs);
                }
                Ok(Planned::Workflow { name, inputs })
            }
        }
    }
}

/// Number of schedules that the program with this token made; they outlive the token.
pub async fn schedules_of_program(
    store: &dyn MemoryStore,
    token: &str,
) -> Result<usize, memory::Error> {
    let (by, mut made) = (Some(by_program(token)), 0);
    for scope in store.scopes().await? {
        let schedules = store.schedules(&scope).await?;
        made += schedules.iter().filter(|schedule| schedule.by == by).count();
    }
    Ok(made)
}

fn kept(entry: &Entry) -> Result<KeptSchedule, ScheduleError> {
    let json = |json: serde_json::Result<String>| {
        json.map_err(|error| ScheduleError::Store(memory::Error::Failed(error.to_string())))
    };
    Ok(KeptSchedule {
        id: entry.id.clone(),
        when: json(serde_json::to_string(&entry.when))?,
        action: json(serde_json::to_string(&entry.action))?,
        by: entry.by.clone(),
        made: entry.made,
        next: entry.next,
        last: entry.last,
    })
}

/// Six hexadecimal digits: short enough to be typed.
fn fresh_id(known: &[Entry]) -> String {
    loop {
        let id = format!("{:06x}", rand::random::<u32>() & 0xff_ffff);
        if known.iter().all(|entry| entry.id != id) {
            return id;
        }
    }
}
