//! Schedules as commands reach them through a face. Entry type: [`Planning`].

use super::text::Refusal;
use crate::campaign::Planner;

/// Schedules of a face.
pub trait Planning {
    /// The schedules of the current campaign.
    ///
    /// # Errors
    /// The face stores no schedules.
    fn planner(&self) -> Result<Planner, Refusal>;
}
