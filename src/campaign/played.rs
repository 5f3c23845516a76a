//! A campaign that is played in place of the configured one.
//!
//! Entry type: [`PlayedCampaign`]. **Never**: says whether it is there.

use serde::{Deserialize, Serialize};

/// A campaign that a guild plays in place of the configured one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayedCampaign {
    /// Its name, of which its key is made.
    pub name: String,
    /// Its subject.
    pub description: String,
    /// The rules played.
    pub system: String,
}
