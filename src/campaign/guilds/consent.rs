//! Form of players' consent to being heard.
//!
//! Entry type: [`Consent`]. **Never**: says who has agreed.

use serde::{Deserialize, Serialize};

/// Form of players' consent to being heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// They are told, and may opt out.
    #[default]
    Notice,
    /// Nobody is heard before pressing a button.
    Ask,
}
