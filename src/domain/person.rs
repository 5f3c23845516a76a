//! Identity of a person, under any name.
//!
//! Entry type: [`Person`]. **Never**: matches a name against data that has an id.

use super::{PersonId, Said};

/// A person to forget, with the names under which earlier versions stored data.
#[derive(Clone, Debug)]
pub struct Person {
    pub id: PersonId,
    /// Names that only they have.
    pub names: Vec<String>,
}

impl Person {
    pub fn has_said(&self, said: &Said) -> bool {
        match &said.by {
            Some(id) => *id == self.id,
            None => self.names.iter().any(|name| said.is_by(name)),
        }
    }

    /// True if data stored with this id, or by earlier versions with this name only, is theirs.
    pub fn is(&self, id: Option<&str>, name: &str) -> bool {
        id.map_or_else(|| self.names.iter().any(|it| it == name), |id| id == self.id.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_only_where_there_is_no_id() {
        let anna = Person { id: PersonId("1".into()), names: vec!["Anna".into()] };
        let said = |by: Option<&str>, text: &str| Said {
            text: text.to_owned(),
            by: by.map(|id| PersonId(id.to_owned())),
        };
        assert!(anna.has_said(&said(Some("1"), "Thorin: hello")));
        assert!(!anna.has_said(&said(Some("2"), "Anna: hello")));
        assert!(anna.has_said(&said(None, "Anna: hello")));
        assert!(!anna.has_said(&said(None, "Annabel: hello")));
        assert!(
            anna.is(Some("1"), "Thorin") && anna.is(None, "Anna") && !anna.is(Some("2"), "Anna")
        );
    }
}
