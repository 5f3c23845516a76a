//! Compares tools' definitions with those first seen. A tool that may have side effects keeps its
//! definition until a person accepts another. **Never**: believes a changed definition that it is
//! harmless.

use super::{
    definitions::Listed,
    difference::differences,
    options::Trust,
    pinned::{Pin, PinnedTools},
};
use crate::tools::{Declared, SideEffects};

/// Decision on offering a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Unchanged, or first seen.
    Known,
    /// A read-only tool with another definition; holds the differences.
    Changed(Vec<String>),
    /// Waits for approval; holds the differences.
    Held(Vec<String>),
}

/// Compares `tool`, declared `here` in the configuration, with its known definition; stores the new
/// one unless the tool is held.
pub fn admit(known: &mut PinnedTools, tool: &Listed, here: Option<&Declared>) -> Admission {
    let now = Pin::of(&tool.definition());
    let before = known.get(&tool.name);
    let is_known = before.is_none_or(|before| *before == now);
    let Some(before) = before.filter(|_| !is_known && !known.is_accepted(&tool.name, &now)) else {
        return kept(known, &tool.name, now, Admission::Known);
    };
    let before = before.shown();
    let what = differences(&before, &now.shown());
    let only_reads = |listed: &Listed| {
        let (declared, _) = listed.declared(here, Trust::Auto);
        declared.side_effects(SideEffects::Destructive) == SideEffects::None
    };
    match Listed::of_definition(&before) {
        Some(before) if only_reads(&before) && only_reads(tool) => {
            kept(known, &tool.name, now, Admission::Changed(what))
        }
        _ => Admission::Held(what),
    }
}

/// `admission` of a tool defined as `now`; without room to store it, the tool is held.
fn kept(known: &mut PinnedTools, tool: &str, now: Pin, admission: Admission) -> Admission {
    match known.put(tool, now) {
        Ok(()) => admission,
        Err(full) => Admission::Held(vec![full.to_string()]),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::{collection::vec, prelude::*};
    use serde_json::json;

    use super::*;
    use crate::tools::connection::{options::ServerAddress, remembered::RememberedServers};

    fn listed(version: u8, hints: &serde_json::Value) -> Listed {
        let tool = json!({"name": "t", "description": format!("does {version}"),
            "inputSchema": {"type": "object"}, "annotations": hints});
        serde_json::from_value::<rmcp::model::Tool>(tool).expect("a tool").into()
    }

    fn place(endpoint: &str) -> ServerAddress {
        ServerAddress { owner: None, server: "home".to_owned(), endpoint: endpoint.to_owned() }
    }

    /// A step in the life of a server's list.
    #[derive(Clone, Debug)]
    enum Step {
        /// Listed with this description and read-only hint.
        Lists(u8, bool),
        /// The program restarts.
        Restart,
        /// A person approves what is listed now.
        Approve,
        /// The server is elsewhere now.
        Moves(bool),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (0..4_u8, any::<bool>()).prop_map(|(words, reads)| Step::Lists(words, reads)),
            1 => Just(Step::Restart),
            2 => Just(Step::Approve),
            1 => any::<bool>().prop_map(Step::Moves),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn changed_tools_with_effects_need_approval(
            steps in vec(step(), 1..40),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let mut remembered = RememberedServers::open(folder.path());
            let mut at = place("one");
            // By endpoint: the last definition that a person, or the first sight, has vouched for.
            let mut vouched: BTreeMap<String, serde_json::Value> = BTreeMap::new();
            let mut now: Option<(Listed, bool)> = None;
            for step in steps {
                match step {
                    Step::Restart => remembered = RememberedServers::open(folder.path()),
                    Step::Moves(other) => {
                        at = place(if other { "two" } else { "one" });
                        now = None;
                    }
                    Step::Approve => if let Some((tool, _)) = &now {
                        let definition = tool.definition();
                        remembered.with_pins(&at, |known| known.set("t", &definition)).unwrap();
                        vouched.insert(at.endpoint.clone(), tool.definition());
                    },
                    Step::Lists(words, reads) => {
                        let hints = json!({"readOnlyHint": reads});
                        let tool = listed(words, &hints);
                        let known = vouched.get(&at.endpoint).cloned();
                        let is_same = known.as_ref().is_none_or(|it| *it == tool.definition());
                        let only_read = known.as_ref().is_some_and(|it| it["read_only"] == true);
                        let admitted = remembered.with_pins(&at, |known| admit(known, &tool, None));
                        match admitted {
                            Admission::Known => prop_assert!(is_same, "changed and not noticed"),
                            Admission::Changed(what) => {
                                prop_assert!(!is_same && only_read && reads, "it has effects");
                                prop_assert!(!what.is_empty());
                            }
                            Admission::Held(what) => {
                                prop_assert!(!(is_same || only_read && reads), "held for nothing");
                                prop_assert!(!what.is_empty());
                                now = Some((tool, false));
                                continue;
                            }
                        }
                        vouched.insert(at.endpoint.clone(), tool.definition());
                        now = Some((tool, true));
                    }
                }
            }
        }
    }

    #[test]
    fn configuration_says_what_only_reads() {
        let mut known = PinnedTools::default();
        let silent = json!({});
        let none = Declared { effects: Some(SideEffects::None), ..Declared::default() };
        let mut look = |version, here| admit(&mut known, &listed(version, &silent), here);
        assert_eq!(look(1, None), Admission::Known);
        assert!(matches!(look(2, None), Admission::Held(_)));
        assert_eq!(look(1, None), Admission::Known, "back to what it was");
        assert!(matches!(look(2, Some(&none)), Admission::Changed(_)));
        assert_eq!(look(2, None), Admission::Known);
    }
}
