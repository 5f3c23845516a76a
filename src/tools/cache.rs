//! Cached results, and one request for equal concurrent calls. The caller decides which results may
//! be cached.

use std::{future::Future, sync::Arc, time::Duration};

use dashmap::DashMap;
use serde_json::{Map, Value};
use tokio::{sync::Mutex, time::Instant};

use super::{CallError, CallOutput, ServerKey};
use crate::domain::{Owner, Scope, SessionId};

/// Most cached results; beyond it, outdated ones go first, then any without a waiting call.
const CAPACITY: usize = 512;

type Slot = Arc<Mutex<Option<(Instant, CallOutput)>>>;

#[derive(Default)]
pub struct Cache(DashMap<CallKey, Slot>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// The tool's owner; `None`: the installation.
    pub owner: Option<Owner>,
    pub tool: Arc<str>,
    /// Scopes share no results: even the fact that a call was made stays private.
    pub scope: Scope,
    /// Set if the server receives the session's id.
    pub session: Option<SessionId>,
    /// As [`canonical`] writes them.
    pub arguments: String,
}

impl Cache {
    /// The cached result of `key` (`true`), or that of `call`, cached for `lifetime` if it
    /// succeeds; equal calls wait for the first. Cancel safe: if the first is cancelled, a waiting
    /// one takes over.
    pub async fn get(
        &self,
        key: CallKey,
        lifetime: Duration,
        fresh: bool,
        call: impl Future<Output = Result<CallOutput, CallError>>,
    ) -> Result<(CallOutput, bool), CallError> {
        self.make_room();
        let slot = Arc::clone(&self.0.entry(key).or_default());
        let asked = Instant::now();
        let mut kept = slot.lock().await;
        if let Some((at, output)) = kept.as_ref()
            && at.elapsed() < lifetime
            // A result that arrived during the wait is fresh.
            && (!fresh || *at > asked)
        {
            return Ok((output.clone(), true));
        }
        let output = call.await?;
        *kept = Some((Instant::now(), output.clone()));
        Ok((output, false))
    }

    /// Drops cached results of `server` for all callers.
    pub fn forget(&self, server: &ServerKey) {
        let prefix = format!("{}.", server.name);
        self.0.retain(|key, _| key.owner != server.owner || !key.tool.starts_with(&prefix));
    }

    fn make_room(&self) {
        if self.0.len() < CAPACITY {
            return;
        }
        let mut surplus = self.0.len().saturating_sub(CAPACITY / 2);
        self.0.retain(|_, slot| {
            let leave = surplus > 0 && Arc::strong_count(slot) == 1;
            surplus -= usize::from(leave);
            !leave
        });
    }
}

/// Arguments as JSON text with sorted members.
pub fn canonical(arguments: &Map<String, Value>) -> String {
    let mut text = String::new();
    write_members(arguments, &mut text);
    text
}

fn write_members(members: &Map<String, Value>, out: &mut String) {
    let mut ordered: Vec<_> = members.iter().collect();
    ordered.sort_unstable_by_key(|(name, _)| *name);
    out.push('{');
    for (name, value) in ordered {
        out.push_str(&Value::from(name.as_str()).to_string());
        out.push(':');
        write(value, out);
        out.push(',');
    }
    out.push('}');
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => write_members(members, out),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write(item, out);
                out.push(',');
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use serde_json::json;

    use super::*;
    use crate::{domain::CampaignKey, tools::CallErrorKind};

    const MINUTE: Duration = Duration::from_secs(60);

    fn call_key(arguments: &Value) -> CallKey {
        let arguments = canonical(arguments.as_object().expect("an object"));
        let scope = Scope::local(CampaignKey("c".to_owned()));
        CallKey { owner: None, tool: "a.b".into(), scope, session: None, arguments }
    }

    #[test]
    fn order_of_members_makes_no_difference() {
        let one = call_key(&json!({"a": 1, "b": {"x": [1, {"p": 1, "q": 2}], "y": 2}}));
        let other = call_key(&json!({"b": {"y": 2, "x": [1, {"q": 2, "p": 1}]}, "a": 1}));
        assert_eq!(one, other);
        assert_ne!(one, call_key(&json!({"a": "1"})));
    }

    #[tokio::test(start_paused = true)]
    async fn equal_calls_at_once_are_one_flight() {
        let (cache, flights) = (Cache::default(), AtomicU32::new(0));
        let ask = || {
            cache.get(call_key(&json!({})), MINUTE, false, async {
                flights.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(50)).await;
                Ok(CallOutput::text("answer"))
            })
        };
        let (a, b, c) = tokio::join!(ask(), ask(), ask());
        assert_eq!(flights.load(Ordering::Relaxed), 1);
        let kept: Vec<bool> = [a, b, c].into_iter().map(|got| got.expect("answered").1).collect();
        assert_eq!(kept, [false, true, true]);
        tokio::time::advance(MINUTE).await;
        assert!(!ask().await.expect("answered").1, "outdated");
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled_and_failed_calls_are_not_cached() {
        let cache = Arc::new(Cache::default());
        let never = cache.get(call_key(&json!({})), MINUTE, false, std::future::pending());
        let lost = tokio::time::timeout(Duration::from_millis(10), never).await;
        assert!(lost.is_err());
        let failed = async { Err(CallError::new(CallErrorKind::Tool, "no")) };
        assert!(cache.get(call_key(&json!({})), MINUTE, false, failed).await.is_err());
        let answer = async { Ok(CallOutput::text("yes")) };
        assert_eq!(
            cache.get(call_key(&json!({})), MINUTE, false, answer).await.map(|got| got.1),
            Ok(false)
        );
        let answer = async { Ok(CallOutput::text("newer")) };
        let fresh = cache.get(call_key(&json!({})), MINUTE, true, answer).await;
        assert_eq!(fresh, Ok((CallOutput::text("newer"), false)));
    }

    #[tokio::test]
    async fn it_does_not_grow_without_end() {
        let cache = Cache::default();
        for n in 0..CAPACITY * 3 {
            let answer = async { Ok(CallOutput::text("x")) };
            _ = cache.get(call_key(&json!({"n": n})), MINUTE, false, answer).await;
        }
        assert!(cache.0.len() <= CAPACITY);
    }

    #[tokio::test]
    async fn cached_results_are_separate_per_owner() {
        let cache = Cache::default();
        let of = |owner: Option<u64>, guild: u64| {
            let scope = Scope { owner: Owner::Guild(guild), ..call_key(&json!({})).scope };
            CallKey { owner: owner.map(Owner::Guild), scope, ..call_key(&json!({})) }
        };
        let kept = async |key: CallKey| {
            let answer = async { Ok(CallOutput::text("x")) };
            cache.get(key, MINUTE, false, answer).await.expect("answered").1
        };
        for key in [of(None, 1), of(None, 2), of(Some(1), 1), of(Some(2), 2)] {
            assert!(!kept(key.clone()).await && kept(key).await);
        }
        cache.forget(&ServerKey::added(Owner::Guild(1), "a"));
        assert!(!kept(of(Some(1), 1)).await, "its server has changed");
        assert!(kept(of(Some(2), 2)).await && kept(of(None, 1)).await, "theirs has not");
        cache.forget(&ServerKey::installed("a"));
        assert!(!kept(of(None, 1)).await && !kept(of(None, 2)).await);
        assert!(kept(of(Some(2), 2)).await);
    }
}
