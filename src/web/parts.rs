//! What routes answer from. Entry type: [`WebParts`].

use super::options::WebOptions;
use crate::campaign::{Access, Handles};

pub struct WebParts {
    pub options: WebOptions,
    pub handles: Handles,
    pub access: Access,
}
