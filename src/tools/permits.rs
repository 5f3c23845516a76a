//! Tools a game master has allowed for good, each for one definition.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Snapshot;

/// Fingerprints of allowed definitions, by identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permits(BTreeMap<String, String>);

impl Permits {
    /// Allows `tool` while it has this definition.
    pub fn allow(&mut self, tool: &str, definition: &str) {
        self.0.insert(tool.to_owned(), definition.to_owned());
    }

    /// Withdraws a permission; false if there was none.
    pub fn revoke(&mut self, tool: &str) -> bool {
        self.0.remove(tool).is_some()
    }

    pub fn allows(&self, tool: &str, definition: &str) -> bool {
        self.0.get(tool).is_some_and(|allowed| allowed == definition)
    }

    /// One line per permission, noting whether it still matches `snapshot`.
    pub fn standing(&self, snapshot: &Snapshot) -> Vec<String> {
        let lines = self.0.iter().map(|(tool, definition)| {
            let found = snapshot.all().iter().find(|placed| *placed.tool.identity == *tool);
            match found.map(|placed| *placed.tool.fingerprint == *definition) {
                Some(true) => format!("{tool}: needs no approval"),
                Some(false) => format!("{tool}: has changed since, so it asks again"),
                None => format!("{tool}: not available now"),
            }
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_definition_is_asked_about_again() {
        let mut permits = Permits::default();
        permits.allow("home.wipe", "a");
        assert!(permits.allows("home.wipe", "a"));
        assert!(!permits.allows("home.wipe", "b") && !permits.allows("home.dust", "a"));
        assert!(permits.revoke("home.wipe") && !permits.revoke("home.wipe"));
        assert!(!permits.allows("home.wipe", "a"));
    }
}
