//! A campaign that is played in place of the configured one.
//!
//! Entry type: [`PlayedCampaign`]. **Never**: says whether it is there.

use serde::{Deserialize, Serialize};

/// A campaign that a guild plays in place of the configured one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayedCampaign {
    /// What it is called; its key is made of that.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// The rules played.
    pub system: String,
}
