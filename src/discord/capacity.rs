//! Places for sessions in this process.
//!
//! Entry type: [`Capacity`]. A session that goes on has a place even beyond the limit: no other
//! node serves its server now.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

/// Refused servers that wait to be passed to another node; further ones are refused again later.
const REFUSED: usize = 64;

/// Sessions by server; usually one, or one that opens while another closes.
type Taken = Arc<Mutex<BTreeMap<u64, u32>>>;

/// Cloning shares it.
#[derive(Clone)]
pub struct Capacity {
    limit: Option<u32>,
    taken: Taken,
    refused: mpsc::Sender<u64>,
}

/// A session's place, free again when dropped.
pub struct SessionPlace {
    guild: u64,
    taken: Taken,
}

impl Capacity {
    /// `limit`: most servers with a session at once; `None`: no limit. The receiver gets servers
    /// whose session was refused.
    pub fn new(limit: Option<u32>) -> (Self, mpsc::Receiver<u64>) {
        let (refused, refusals) = mpsc::channel(REFUSED);
        (Self { limit, taken: Taken::default(), refused }, refusals)
    }

    /// A place for a new session of `guild`. Fails with the limit if all are taken.
    pub fn take(&self, guild: u64) -> Result<SessionPlace, u32> {
        let mut taken = locked(&self.taken);
        let count = u32::try_from(taken.len()).unwrap_or(u32::MAX);
        if let Some(limit) = self.limit.filter(|&limit| count >= limit)
            && !taken.contains_key(&guild)
        {
            // Not passed on if too many wait, or if this process leases no shards.
            let _ = self.refused.try_send(guild);
            return Err(limit);
        }
        Ok(self.place(&mut taken, guild))
    }

    /// A place for a session that goes on.
    pub fn take_anyway(&self, guild: u64) -> SessionPlace {
        self.place(&mut locked(&self.taken), guild)
    }

    /// Servers with a session.
    pub fn guilds(&self) -> Vec<u64> {
        locked(&self.taken).keys().copied().collect()
    }

    fn place(&self, taken: &mut BTreeMap<u64, u32>, guild: u64) -> SessionPlace {
        *taken.entry(guild).or_default() += 1;
        SessionPlace { guild, taken: Arc::clone(&self.taken) }
    }
}

impl Drop for SessionPlace {
    fn drop(&mut self) {
        let mut taken = locked(&self.taken);
        if let Some(count) = taken.get_mut(&self.guild) {
            *count = count.saturating_sub(1);
        }
        taken.retain(|_, count| *count > 0);
    }
}

/// Held for a look-up, never across an await.
fn locked(taken: &Taken) -> MutexGuard<'_, BTreeMap<u64, u32>> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_sessions_beyond_the_limit_are_refused() {
        let (capacity, mut refused) = Capacity::new(Some(2));
        let first = capacity.take(7).ok();
        let second = capacity.take(9).ok();
        assert_eq!(capacity.take(8).err(), Some(2));
        assert_eq!(refused.try_recv(), Ok(8));
        drop(first);
        assert_eq!(capacity.guilds(), [9]);
        assert!(capacity.take(8).is_ok() && refused.try_recv().is_err());
        drop(second);
        assert!(capacity.guilds().is_empty());
    }

    #[test]
    fn next_session_of_a_server_has_its_place() {
        let (capacity, _refused) = Capacity::new(Some(1));
        let closing = capacity.take(7).ok();
        let opening = capacity.take(7).ok();
        drop(closing);
        assert_eq!((opening.is_some(), capacity.take(8).err()), (true, Some(1)));
    }

    #[test]
    fn session_that_goes_on_is_not_refused() {
        let (capacity, _refused) = Capacity::new(Some(1));
        let _places = [7, 8].map(|guild| capacity.take_anyway(guild));
        assert_eq!(capacity.guilds(), [7, 8]);
        assert_eq!(capacity.take(9).err(), Some(1));
    }

    #[test]
    fn without_a_limit_none_is_refused() {
        let (capacity, refused) = Capacity::new(None);
        drop(refused);
        let places: Vec<_> = (0..1_000).filter_map(|guild| capacity.take(guild).ok()).collect();
        assert_eq!(places.len(), 1_000);
    }
}
