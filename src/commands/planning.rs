//! Schedules as commands reach them through a face. Entry type: [`Planning`].

use super::text::Refusal;
use crate::campaign::Planner;

/// Schedules of a face.
pub trait Planning {
    /// The schedules of the campaign that is played as this is called.
    ///
    /// # Errors
    /// The face stores none.
    fn planner(&self) -> Result<Planner, Refusal>;
}
