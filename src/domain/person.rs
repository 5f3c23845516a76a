//! Who somebody is, whatever they are called.
//!
//! Entry types: [`PersonId`], by which what is kept is found again, and [`Person`], who is to be
//! forgotten. **Never**: takes a name for a person where there is an id.

use serde::{Deserialize, Serialize};

use super::{Owner, Said};

/// A person's identity: on Discord their user id, on this machine their name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PersonId(pub String);

/// Somebody, with the names under which things were kept before ids were.
#[derive(Clone, Debug)]
pub struct Person {
    /// Who it is.
    pub id: PersonId,
    /// What nobody else is called.
    pub names: Vec<String>,
}

impl Owner {
    /// Who somebody is that plays there, by their number in the voice channel and their name.
    pub fn person(self, number: u64, name: &str) -> PersonId {
        PersonId(match self {
            Self::Guild(_) => number.to_string(),
            Self::Local => name.to_owned(),
        })
    }
}

impl Person {
    /// Whether these are their words.
    pub fn has_said(&self, said: &Said) -> bool {
        match &said.by {
            Some(id) => *id == self.id,
            None => self.names.iter().any(|name| said.is_by(name)),
        }
    }

    /// Whether what is kept with this identity, or of earlier versions with this name only, is theirs.
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
        assert_eq!(Owner::Guild(7).person(1, "Anna"), anna.id);
        assert_eq!(Owner::Local.person(1, "Anna").0, "Anna");
    }
}
