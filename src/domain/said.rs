//! A user message of a conversation, and the identity of its speaker under any name.
//!
//! Entry types: [`Said`], [`Person`]. **Never**: shows a model the speaker's id, or matches a name
//! against data that has an id.

use serde::{Deserialize, Serialize};

use super::PersonId;

/// Words of a player after their name, or this turn's facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub struct Said {
    pub text: String,
    /// `None`: no speaker, or stored before speakers were recorded.
    pub by: Option<PersonId>,
}

impl Said {
    pub fn is_by(&self, name: &str) -> bool {
        self.text.strip_prefix(name).is_some_and(|it| it.starts_with(": "))
    }

    /// Name of the speaker, and their words; `None` without a name.
    pub fn name_and_words(&self) -> Option<(&str, &str)> {
        self.text.split_once(": ")
    }
}

impl<T: Into<String>> From<T> for Said {
    fn from(text: T) -> Self {
        Self { text: text.into(), by: None }
    }
}

/// Stored form: text without a speaker is a plain string, as all text once was.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Kept {
    Text(String),
    Of { text: String, by: PersonId },
}

impl From<Kept> for Said {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Text(text) => text.into(),
            Kept::Of { text, by } => Self { text, by: Some(by) },
        }
    }
}

impl From<Said> for Kept {
    fn from(Said { text, by }: Said) -> Self {
        match by {
            Some(by) => Self::Of { text, by },
            None => Self::Text(text),
        }
    }
}

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
    use crate::domain::Message;

    #[test]
    fn messages_of_earlier_versions_are_read() {
        let old = r#"[{"user":"Anna: hello"},{"user":{"text":"Ben: hi","by":"2"}}]"#;
        let kept: Vec<Message> = serde_json::from_str(old).expect("messages");
        let by = Some(PersonId("2".to_owned()));
        let ben = Said { text: "Ben: hi".to_owned(), by };
        assert_eq!(kept, [Message::User("Anna: hello".into()), Message::User(ben)]);
        assert_eq!(serde_json::to_string(&kept).expect("json"), old);
    }

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
