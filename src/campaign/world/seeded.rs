//! Campaign files that this program has already brought into the store: comparing all entities of a
//! large world takes a third of a second. Entry type: [`SeededWorlds`].

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{domain::Scope, import::campaign::World};

/// Worlds as they were last brought into the store. Cloning shares them.
#[derive(Clone, Default)]
pub struct SeededWorlds(Arc<Mutex<HashMap<Scope, Arc<World>>>>);

impl SeededWorlds {
    /// True if `scope` has exactly this world; a changed file makes another.
    pub fn has(&self, scope: &Scope, world: &Arc<World>) -> bool {
        self.worlds().get(scope).is_some_and(|seeded| Arc::ptr_eq(seeded, world))
    }

    pub fn add(&self, scope: &Scope, world: &Arc<World>) {
        self.worlds().insert(scope.clone(), Arc::clone(world));
    }

    fn worlds(&self) -> MutexGuard<'_, HashMap<Scope, Arc<World>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
