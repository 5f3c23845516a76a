//! Services and settings for the routes. Entry type: [`WebParts`].

use super::options::WebOptions;
use crate::campaign::Handles;

pub struct WebParts {
    pub options: WebOptions,
    pub handles: Handles,
    /// Players speak to the tables of this program.
    pub is_heard: bool,
}
