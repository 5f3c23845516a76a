//! An NPC's memories in a turn's message.
//!
//! Entry type: [`Recalled`].

use super::said::{LONGEST_FACT, SideLine, said};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    /// Relations to others ("owes Mira").
    pub relations: Vec<String>,
    /// Knowledge of things named ("Mira (person): a thief").
    pub named: Vec<String>,
    /// Earlier lines ("Wren to Bartok, 3 days ago: I promise").
    pub said: Vec<String>,
    pub last_session: Vec<String>,
    /// Some of it is not for everyone's ears.
    pub is_gated: bool,
}

impl Recalled {
    pub fn len(&self) -> usize {
        self.relations.len() + self.named.len() + self.said.len() + self.last_session.len()
    }

    /// Lines for a turn's message that contains `side_lines`.
    pub(super) fn lines(&self, side_lines: &[SideLine]) -> Vec<String> {
        let is_new = |line: &&String| !side_lines.iter().any(|it| line.ends_with(&it.text));
        let parts = [
            ("[You stand to others so:]", &self.relations),
            ("[What you know of what is spoken of:]", &self.named),
            ("[Of the last session you remember:]", &self.last_session),
            ("[Said in your hearing before; use it only if it matters now:]", &self.said),
        ];
        let mut lines = Vec::new();
        for (title, told) in parts {
            let told = told.iter().filter(is_new);
            let told = told.map(|line| format!("- {}", said(line, LONGEST_FACT)));
            let before = lines.len();
            lines.push(title.to_owned());
            lines.extend(told);
            if lines.len() == before + 1 {
                lines.pop();
            }
        }
        lines
    }
}
