//! Settings and services of all routes. Entry type: [`WebParts`].

use super::{options::WebOptions, rehearsal::Rehearsal};
use crate::campaign::Handles;

pub struct WebParts {
    pub options: WebOptions,
    pub handles: Handles,
    /// Players speak to the tables of this program.
    pub is_heard: bool,
    /// Lets browsers in; `None`: no page is served.
    pub rehearsal: Option<Rehearsal>,
}
