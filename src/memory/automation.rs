//! Runs of workflows, and schedules.
//!
//! Entry trait: [`Automation`]. Records, times and actions are JSON of `logic`, which a store reads
//! only to remove a deleted person. **Never**: gives one firing to two programs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StoreFuture;
use crate::domain::{PersonId, Scope, Timestamp};

/// Runs stored per scope; older ones are removed. Enough for years of evenings.
pub(super) const RUNS_MAX: usize = 500;
/// Fewest digits of a Discord user id; a shorter id may be an ordinary word of a text.
const USER_ID_DIGITS: usize = 15;

/// A run of a workflow. An interrupted one has no end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRun {
    pub id: String,
    pub workflow: String,
    pub began: Timestamp,
    pub ended: Option<Timestamp>,
    /// JSON of `logic::workflow::record::RunRecord`.
    pub record: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSchedule {
    pub id: String,
    /// JSON of `logic::schedule::When`.
    pub when: String,
    /// JSON of `logic::schedule::Planned`.
    pub action: String,
    /// `None`: created at the command line, or by a person deleted since.
    pub by: Option<PersonId>,
    pub made: Timestamp,
    /// `None`: waits for a session.
    pub next: Option<Timestamp>,
    pub last: Option<Timestamp>,
}

/// The firing of a schedule at `due`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    pub id: &'a str,
    /// The stored next time.
    pub due: Option<Timestamp>,
    /// The next time after it.
    pub then: Option<Timestamp>,
    /// Removes the schedule.
    pub is_over: bool,
}

pub trait Automation: Send + Sync {
    /// Adds a run, or replaces its record; a starter deleted meanwhile stays deleted. Keeps the
    /// newest 500 of the scope.
    fn keep_run<'a>(&'a self, scope: &'a Scope, run: KeptRun) -> StoreFuture<'a, ()>;

    /// Newest first; `limit` 0: all.
    fn runs<'a>(&'a self, scope: &'a Scope, limit: usize) -> StoreFuture<'a, Vec<KeptRun>>;

    /// A schedule with a known id changes nothing.
    fn add_schedule<'a>(&'a self, scope: &'a Scope, schedule: KeptSchedule) -> StoreFuture<'a, ()>;

    /// By their next time; those that wait for a session last.
    fn schedules<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, Vec<KeptSchedule>>;

    /// Those whose next time is at most `until`, or 1 ms after the last (a firing that has begun);
    /// with a session, also those without any time.
    fn due_schedules<'a>(
        &'a self,
        scope: &'a Scope,
        until: Timestamp,
        has_session: bool,
    ) -> StoreFuture<'a, Vec<KeptSchedule>>;

    /// True if it existed.
    fn remove_schedule<'a>(&'a self, scope: &'a Scope, id: &'a str) -> StoreFuture<'a, bool>;

    /// Takes a firing for the caller alone. True if the next time still was `claim.due`: it is then
    /// the last time, and `claim.then` the next. Only one of several programs gets true.
    fn claim_schedule<'a>(&'a self, scope: &'a Scope, claim: Claim<'a>) -> StoreFuture<'a, bool>;
}

impl KeptRun {
    /// Removes `person` from a run that began before a Unix time in ms; true if that changed it.
    pub fn forget(&mut self, person: &str, before: Timestamp) -> bool {
        self.began < before
            && edited(&mut self.record, |record| {
                let starter = record.get_mut("starter").and_then(|it| it.get_mut("person"));
                if let Some(starter) = starter.filter(|it| **it == *person) {
                    *starter = Value::from("");
                }
                without_id(record, person);
            })
    }

    /// The person who started it. Empty: deleted; `None`: not started by a person.
    pub fn starter(&self) -> Option<String> {
        starter(&self.record)
    }

    /// Removes the starter if `stored`, an earlier record of this run, has lost it.
    pub(super) fn stay_deleted(&mut self, stored: &str) {
        if starter(stored).is_some_and(|it| it.is_empty())
            && let Some(person) = self.starter()
        {
            self.forget(&person, Timestamp::MAX);
        }
    }
}

impl KeptSchedule {
    /// Removes `person` from a schedule made before a Unix time in ms; true if that changed it.
    pub fn forget(&mut self, person: &str, before: Timestamp) -> bool {
        if self.made >= before {
            return false;
        }
        let made = self.by.take_if(|by| by.0 == person).is_some();
        edited(&mut self.action, |action| without_id(action, person)) || made
    }
}

fn starter(record: &str) -> Option<String> {
    let record: Value = serde_json::from_str(record).ok()?;
    Some(record.get("starter")?.get("person")?.as_str()?.to_owned())
}

/// Applies `edit` to JSON; true if that changed it. Invalid JSON stays.
fn edited(text: &mut String, edit: impl FnOnce(&mut Value)) -> bool {
    let Ok(before) = serde_json::from_str::<Value>(text) else { return false };
    let mut after = before.clone();
    edit(&mut after);
    if after == before {
        return false;
    }
    *text = after.to_string();
    true
}

/// Removes a Discord user id from all texts: a line or a reason may mention the user. Other ids are
/// ordinary names, and stay in what others wrote.
fn without_id(value: &mut Value, id: &str) {
    if id.len() < USER_ID_DIGITS || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return;
    }
    match value {
        Value::String(text) => *text = text.replace(id, ""),
        Value::Array(all) => all.iter_mut().for_each(|it| without_id(it, id)),
        Value::Object(all) => all.values_mut().for_each(|it| without_id(it, id)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(starter: &str, reason: &str) -> KeptRun {
        let record = format!(r#"{{"starter":{starter},"steps":[{{"outcome":"{reason}"}}]}}"#);
        let workflow = "bells".to_owned();
        KeptRun { id: "r".to_owned(), workflow, began: 5, ended: None, record }
    }

    #[test]
    fn deleted_person_leaves_no_id() {
        const ID: &str = "123456789012345678";
        let mut anna = run(&format!(r#"{{"person":"{ID}"}}"#), &format!("no such user <@{ID}>"));
        let unchanged = anna.clone();
        assert!(!anna.forget(ID, 5) && anna == unchanged, "it began at that moment");
        assert!(anna.forget(ID, 6) && !anna.record.contains(ID), "{}", anna.record);
        assert!(anna.record.contains(r#"{"person":""}"#), "{}", anna.record);
        assert!(!anna.forget(ID, 6));
        let mut late = unchanged;
        late.stay_deleted(&anna.record);
        assert_eq!(late, anna);
    }

    #[test]
    fn names_of_others_stay() {
        let mut ben = run(r#"{"person":"Ben"}"#, "Ann is away");
        let unchanged = ben.clone();
        assert!(!ben.forget("Ann", 6));
        ben.stay_deleted(&unchanged.record);
        assert_eq!(ben, unchanged);
        let mut clock = run(r#"{"schedule":"Ben"}"#, "no table");
        assert!(!clock.forget("Ben", 6));
    }
}
