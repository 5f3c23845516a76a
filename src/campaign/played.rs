use serde::{Deserialize, Serialize};

/// A campaign that a guild plays instead of the configured one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayedCampaign {
    /// Its key is made from it.
    pub name: String,
    pub description: String,
    pub system: String,
}
