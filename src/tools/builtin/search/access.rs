//! Services behind the web tools.

use std::sync::Arc;

use super::seen::SeenAddresses;
use crate::provider::{Pages, WebSearch};

#[derive(Clone)]
pub struct WebAccess {
    pub service: Arc<dyn WebSearch>,
    pub pages: Pages,
    pub seen: SeenAddresses,
}
