//! What routes answer from. Entry type: [`WebParts`].

use super::options::WebOptions;
use crate::campaign::Handles;

pub struct WebParts {
    pub options: WebOptions,
    pub handles: Handles,
}
