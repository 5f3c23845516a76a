//! Worlds of campaigns, for the faces of game masters. Entry type: [`WorldEdits`].

use std::sync::Arc;

use super::{
    error::WorldError,
    order::{WorldAnswer, WorldRequest},
    orders::carry_out,
};
use crate::{campaign::SharedSettings, memory::MemoryStore};

/// Shows and changes worlds. Cloning shares it.
#[derive(Clone)]
pub struct WorldEdits {
    pub settings: SharedSettings,
    pub store: Arc<dyn MemoryStore>,
}

impl WorldEdits {
    /// Carries out `request`.
    pub async fn carry_out(self, request: WorldRequest) -> Result<WorldAnswer, WorldError> {
        carry_out(&*self.store, &self.settings.load_full(), request).await
    }
}
