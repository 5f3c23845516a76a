//! Worlds of campaigns, for the faces of game masters.
//!
//! Entry type: [`WorldEdits`]. **Never**: decides who may change a world.

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
    /// The configuration.
    pub settings: SharedSettings,
    /// Store of the worlds.
    pub store: Arc<dyn MemoryStore>,
}

impl WorldEdits {
    /// Does what `request` says.
    ///
    /// # Errors
    /// A fault of the request, or of the store, with the way out.
    pub async fn carry_out(self, request: WorldRequest) -> Result<WorldAnswer, WorldError> {
        carry_out(&*self.store, &self.settings.load_full(), request).await
    }
}
