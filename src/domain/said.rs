//! A user message of a conversation.
//!
//! Entry type: [`Said`]. **Never**: shows a model the speaker's id.

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
}
