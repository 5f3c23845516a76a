use serde::{Deserialize, Serialize};

/// Form of players' consent to being heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// Players are notified, and may opt out.
    #[default]
    Notice,
    /// Players are heard only after they press a button.
    Ask,
}
