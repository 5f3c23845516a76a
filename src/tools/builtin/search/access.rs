//! State of the web tools.
//!
//! Entry type: [`WebAccess`].

use std::sync::Arc;

use super::seen::SeenAddresses;
use crate::provider::{Pages, WebSearch};

/// State of the tools. Cloning shares it.
#[derive(Clone)]
pub struct WebAccess {
    /// Searches the web.
    pub service: Arc<dyn WebSearch>,
    /// Reads pages.
    pub pages: Pages,
    /// Addresses that searches returned.
    pub seen: SeenAddresses,
}
