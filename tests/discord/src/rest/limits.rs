//! Rate limits: a bucket per route and major parameter, and one over all of a token.
//!
//! Entry type: [`Limits`]. Never: clocks of its own.

use crate::options::Limit;
use std::{collections::BTreeMap, time::Duration};
use tokio::time::Instant;

/// Requests used up in a window.
#[derive(Clone, Copy, Debug)]
struct Used {
    requests: u32,
    resets: Instant,
}

/// State of the bucket after a request.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// Requests per window.
    pub(crate) limit: u32,
    /// Those left.
    pub(crate) remaining: u32,
    /// Until they are all back.
    pub(crate) reset_after: Duration,
    /// The bucket's name.
    pub(crate) bucket: String,
    /// The request is one too many, because of its bucket or because of all of them.
    pub(crate) exceeded: Option<Scope>,
}

/// Limit that a request exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The bucket's.
    User,
    /// That of all requests.
    Global,
}

/// Bucket of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// User of the token.
    pub(crate) user: u64,
    /// Method and path, with braces for ids.
    pub(crate) route: String,
    /// The channel, guild, webhook or interaction.
    pub(crate) major: String,
}

/// All buckets.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    used: BTreeMap<Key, Used>,
    global: BTreeMap<u64, Used>,
    own: BTreeMap<String, Limit>,
    /// Everything is refused until then.
    pub(crate) global_until: Option<Instant>,
}

/// Routes that Discord limits in its own way.
const OWN: [(&str, u32, u64); 8] = [
    ("POST /channels/{channel_id}/messages", 5, 5),
    ("PATCH /channels/{channel_id}/messages/{message_id}", 5, 5),
    ("POST /webhooks/{application_id}/{token}", 5, 2),
    ("PATCH /webhooks/{application_id}/{token}/messages/@original", 5, 2),
    ("PATCH /webhooks/{application_id}/{token}/messages/{message_id}", 5, 2),
    ("POST /interactions/{interaction_id}/{token}/callback", 100, 1),
    ("PUT /applications/{application_id}/commands", 2, 60),
    ("PUT /applications/{application_id}/guilds/{guild_id}/commands", 2, 5),
];

impl Limits {
    /// Another limit for one route (`"PATCH /channels/{channel_id}"`), from an empty bucket on.
    pub(crate) fn set(&mut self, route: &str, limit: Limit) {
        self.used.retain(|key, _| key.route != route);
        self.own.insert(route.to_owned(), limit);
    }

    /// The limit of a route.
    fn limit_of(&self, route: &str, default: Limit) -> Limit {
        if let Some(limit) = self.own.get(route) {
            return *limit;
        }
        let own = OWN.iter().find(|(name, ..)| *name == route);
        own.map_or(default, |(_, requests, seconds)| Limit {
            requests: *requests,
            window: Duration::from_secs(*seconds),
        })
    }

    /// Counts a request.
    pub(crate) fn take(&mut self, now: Instant, key: Key, default: Limit, global: Limit) -> Taken {
        let limit = self.limit_of(&key.route, default);
        let bucket = format!("{:016x}", fnv(&key.route));
        let whole = key.route.contains("/interactions/") || key.route.contains("/webhooks/");
        let over_all = if whole { None } else { self.over_all(now, key.user, global) };
        let used = self.used.entry(key).or_insert(Used { requests: 0, resets: now });
        if used.resets <= now {
            *used = Used { requests: 0, resets: now + limit.window };
        }
        let mut taken = Taken {
            limit: limit.requests,
            remaining: 0,
            reset_after: used.resets - now,
            bucket,
            exceeded: None,
        };
        if let Some(wait) = over_all {
            return Taken { reset_after: wait, exceeded: Some(Scope::Global), ..taken };
        }
        if used.requests >= limit.requests {
            return Taken { exceeded: Some(Scope::User), ..taken };
        }
        used.requests += 1;
        taken.remaining = limit.requests - used.requests;
        taken
    }

    /// Wait that the global limits impose on a user's requests, if any.
    fn over_all(&mut self, now: Instant, user: u64, global: Limit) -> Option<Duration> {
        if let Some(until) = self.global_until.filter(|until| *until > now) {
            return Some(until - now);
        }
        let used = self.global.entry(user).or_insert(Used { requests: 0, resets: now });
        if used.resets <= now {
            *used = Used { requests: 0, resets: now + global.window };
        }
        used.requests += 1;
        (used.requests > global.requests).then(|| used.resets - now)
    }
}

/// A short hash, for names of buckets.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_fill_and_empty() {
        let mut limits = Limits::default();
        let limit = |requests| Limit { requests, window: Duration::from_secs(1) };
        let key = |major: &str| Key { user: 1, route: "GET /x".into(), major: major.into() };
        let start = Instant::now();
        let mut take = |now, major: &str| limits.take(now, key(major), limit(2), limit(4)).exceeded;
        assert_eq!(take(start, "a"), None);
        assert_eq!(take(start, "a"), None);
        assert_eq!(take(start, "a"), Some(Scope::User));
        assert_eq!(take(start, "b"), None, "another channel is another bucket");
        assert_eq!(take(start, "c"), Some(Scope::Global));
        assert_eq!(take(start + Duration::from_secs(1), "a"), None);
    }
}
