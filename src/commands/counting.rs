//! Calls and costs as commands reach them through a face. Entry type: [`Counting`].

use super::text::Refusal;
use crate::campaign::Analytics;

/// Reports of a face.
pub trait Counting {
    /// Reports of the current campaign.
    ///
    /// # Errors
    /// The face stores nothing.
    fn analytics(&self) -> Result<Analytics, Refusal>;
}
