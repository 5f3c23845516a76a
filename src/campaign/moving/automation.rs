//! Runs of workflows and schedules that a store lacks.
//!
//! Entry function: [`lacking`]. Records, times and actions may come from others, so all are read
//! before anything is written.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use crate::{
    domain::revealed_name,
    logic::{
        schedule::{Planned, When},
        workflow::record::RunRecord,
    },
    memory::{KeptRun, KeptSchedule},
};

/// Longest id, in bytes.
const ID_MAX: usize = 64;

pub trait Automated: PartialEq {
    const KIND: &'static str;
    fn id(&self) -> &str;
    /// True if this program can read all of it.
    fn is_whole(&self) -> bool;
}

impl Automated for KeptRun {
    const KIND: &'static str = "run";

    fn id(&self) -> &str {
        &self.id
    }

    fn is_whole(&self) -> bool {
        is_read::<RunRecord>(&self.record)
    }
}

impl Automated for KeptSchedule {
    const KIND: &'static str = "schedule";

    fn id(&self) -> &str {
        &self.id
    }

    fn is_whole(&self) -> bool {
        is_read::<When>(&self.when) && is_read::<Planned>(&self.action)
    }
}

fn is_read<T: DeserializeOwned>(text: &str) -> bool {
    serde_json::from_str::<T>(text).is_ok()
}

/// New entries of an export, and faults of those that cannot be taken.
pub struct Lacking<T> {
    pub new: Vec<T>,
    /// Number of those that the store has in another form.
    pub kept: usize,
    pub faults: Vec<String>,
}

pub fn lacking<T: Automated>(export: Vec<T>, here: &[T]) -> Lacking<T> {
    let own: BTreeMap<&str, &T> = here.iter().map(|it| (it.id(), it)).collect();
    let mut found = Lacking { new: Vec::new(), kept: 0, faults: Vec::new() };
    let mut ids = BTreeSet::new();
    for entry in export {
        let id = entry.id();
        if let Some(own) = own.get(id) {
            found.kept += usize::from(**own != entry);
            continue;
        }
        let fault = if id.is_empty() || id.len() > ID_MAX || !ids.insert(id.to_owned()) {
            "invalid or repeated id"
        } else if !entry.is_whole() {
            "cannot be read (update glyphoxa, or export again)"
        } else {
            found.new.push(entry);
            continue;
        };
        found.faults.push(format!("{} '{}': {fault}", T::KIND, revealed_name(id)));
    }
    found
}
