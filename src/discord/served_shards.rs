//! The shards that this process serves now.
//!
//! Entry type: [`ServedShards`]. The gateway counts as up while there are shards and all of them
//! are connected.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serenity::all::GuildId;

use super::guilds::Guilds;
use crate::{
    campaign::shard_of,
    figures::{Figures, Gateway},
};

/// Cloning shares it.
#[derive(Clone)]
pub struct ServedShards {
    /// Of the whole bot.
    pub count: u32,
    figures: Figures,
    open: Arc<Mutex<BTreeMap<u32, Open>>>,
}

struct Open {
    guilds: Arc<Guilds>,
    is_up: bool,
}

impl ServedShards {
    /// `count`: shards of the whole bot, at least one.
    pub fn new(count: u32, figures: Figures) -> Self {
        figures.set_gateway(Gateway::Down);
        Self { count, figures, open: Arc::default() }
    }

    pub fn begin(&self, shard: u32, guilds: Arc<Guilds>) {
        let mut open = self.open();
        open.insert(shard, Open { guilds, is_up: false });
        self.count_up(&open);
    }

    /// Ignored for a shard that has ended.
    pub fn set_up(&self, shard: u32, is_up: bool) {
        let mut open = self.open();
        if let Some(shard) = open.get_mut(&shard) {
            shard.is_up = is_up;
        }
        self.count_up(&open);
    }

    pub fn end(&self, shard: u32) {
        let mut open = self.open();
        open.remove(&shard);
        self.count_up(&open);
    }

    /// How many are connected.
    pub fn connected(&self) -> u32 {
        self.open().values().map(|it| u32::from(it.is_up)).sum()
    }

    /// The shard of `guild`, by Discord's rule.
    pub fn of(&self, guild: u64) -> u32 {
        shard_of(guild, self.count)
    }

    /// True if the shard of `guild` is served here, whether or not the bot is there.
    pub fn serves_shard_of(&self, guild: u64) -> bool {
        self.open().contains_key(&self.of(guild))
    }

    /// True if the bot is on this server, and its shard is served here. An id of 0 is no server's.
    pub fn serves(&self, guild: u64) -> bool {
        let open = self.open();
        guild > 0 && open.get(&self.of(guild)).is_some_and(|it| it.guilds.has(GuildId::new(guild)))
    }

    fn count_up(&self, open: &BTreeMap<u32, Open>) {
        let is_up = !open.is_empty() && open.values().all(|it| it.is_up);
        self.figures.set_gateway(if is_up { Gateway::Up } else { Gateway::Down });
    }

    /// Held for a look-up, never across an await.
    fn open(&self) -> MutexGuard<'_, BTreeMap<u32, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discord::tenure::Tenure;

    #[test]
    fn gateway_is_up_while_all_shards_are() {
        let figures = Figures::default();
        let served = ServedShards::new(2, figures.clone());
        assert_eq!(figures.gateway(), Some(Gateway::Down), "no shard yet");
        for shard in 0..2 {
            served.begin(shard, Arc::new(Guilds::new(Tenure::endless())));
        }
        assert!(served.serves_shard_of(5) && !served.serves(5));
        served.set_up(0, true);
        assert_eq!(served.connected(), 1);
        assert_eq!(figures.gateway(), Some(Gateway::Down));
        served.set_up(1, true);
        assert_eq!(figures.gateway(), Some(Gateway::Up));
        served.set_up(1, false);
        assert_eq!(figures.gateway(), Some(Gateway::Down));
        served.end(1);
        assert_eq!(figures.gateway(), Some(Gateway::Up));
        served.set_up(1, false);
        assert_eq!(figures.gateway(), Some(Gateway::Up), "it has ended");
        assert!(!served.serves_shard_of(1 << 22));
        served.end(0);
        assert_eq!(figures.gateway(), Some(Gateway::Down));
    }
}
