//! Declarations about a tool, merged from configuration, server and built-in defaults.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::domain::{Calling, Tier};

/// Longest accepted duration.
const ABSURD: Duration = Duration::from_secs(24 * 60 * 60);

/// Side effects of a tool's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideEffects {
    None,
    Reversible,
    Destructive,
}

impl SideEffects {
    pub const NAMES: &[&str] = &["none", "reversible", "destructive"];

    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Reversible => "reversible",
            Self::Destructive => "destructive",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        [Self::None, Self::Reversible, Self::Destructive].into_iter().find(|it| it.name() == name)
    }
}

/// One source's declarations about a tool; `None`: undeclared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    /// Expected duration (p50).
    pub estimated: Option<Duration>,
    /// Longest duration (p99); the hard limit of a call.
    pub max: Option<Duration>,
    /// p50 measured by another installation.
    pub measured: Option<Duration>,
    /// p99 measured by another installation.
    pub measured_p99: Option<Duration>,
    /// Calling it twice has the effect of calling it once.
    pub idempotent: Option<bool>,
    /// It only reads.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// It reaches beyond this machine.
    pub open_world: Option<bool>,
    /// Configured side effects; they override the tool's own declarations.
    pub effects: Option<SideEffects>,
    /// Time a result may be cached.
    pub cacheable: Option<Duration>,
    /// Categories (dice, memory, rules, …), most important first.
    pub categories: Vec<String>,
    /// Lowest tier it is offered in.
    pub floor: Option<Tier>,
    /// A late result gets a turn of its own.
    pub follow_up: Option<bool>,
    /// A late result interrupts the NPC's speech, if its model can be interrupted.
    pub urgent: Option<bool>,
    /// It only records; no answer waits for it.
    pub records: Option<bool>,
    /// The game master decides each call.
    pub approval: Option<bool>,
    /// Phrases an NPC says while the call runs.
    pub fillers: Option<Vec<String>>,
    /// Replaces the source's description.
    pub description: Option<String>,
    /// Replaces the source's JSON Schema of arguments.
    pub parameters: Option<Value>,
    /// Arguments for measuring it, side effects included.
    pub probe: Option<Map<String, Value>>,
}

impl Declared {
    /// Fills gaps from `weaker`.
    #[must_use]
    pub fn over(self, weaker: Self) -> Self {
        Self {
            estimated: self.estimated.or(weaker.estimated),
            max: self.max.or(weaker.max),
            measured: self.measured.or(weaker.measured),
            measured_p99: self.measured_p99.or(weaker.measured_p99),
            idempotent: self.idempotent.or(weaker.idempotent),
            read_only: self.read_only.or(weaker.read_only),
            destructive: self.destructive.or(weaker.destructive),
            open_world: self.open_world.or(weaker.open_world),
            effects: self.effects.or(weaker.effects),
            cacheable: self.cacheable.or(weaker.cacheable),
            categories: if self.categories.is_empty() {
                weaker.categories
            } else {
                self.categories
            },
            floor: self.floor.or(weaker.floor),
            follow_up: self.follow_up.or(weaker.follow_up),
            urgent: self.urgent.or(weaker.urgent),
            records: self.records.or(weaker.records),
            approval: self.approval.or(weaker.approval),
            fillers: self.fillers.or(weaker.fillers),
            description: self.description.or(weaker.description),
            parameters: self.parameters.or(weaker.parameters),
            probe: self.probe.or(weaker.probe),
        }
    }

    /// Reads `glyphoxa/<field>` or bare fields from a server's `_meta` or a schema's `_metadata`.
    /// Invalid members are skipped and returned by name with the problem.
    pub fn from_members(members: &Map<String, Value>) -> (Self, Vec<String>) {
        let mut reader = Members { members, wrong: Vec::new() };
        let declared = Self {
            estimated: reader.millis("estimated_duration_ms"),
            max: reader.millis("max_duration_ms"),
            measured: reader.millis("measured_duration_ms"),
            measured_p99: reader.millis("measured_p99_ms"),
            idempotent: reader.flag("idempotent"),
            read_only: reader.flag("read_only"),
            destructive: reader.flag("destructive"),
            cacheable: reader.seconds("cacheable_seconds"),
            categories: reader.texts("category"),
            ..Self::default()
        };
        (declared, reader.wrong)
    }

    /// The declared duration and the tier it requires, if that tier overrides a lower configured
    /// one.
    pub fn floor_without_effect(&self) -> Option<(Duration, Tier)> {
        let (floor, takes) = (self.floor?, self.measured.or(self.estimated)?);
        let needed = Tier::lasting(takes).unwrap_or(Tier::Deep);
        (floor < needed).then_some((takes, needed))
    }

    /// Side effects: configured, else declared, else `unsaid`.
    pub fn side_effects(&self, unsaid: SideEffects) -> SideEffects {
        match self.effects {
            Some(effects) => effects,
            None if self.destructive == Some(true) => SideEffects::Destructive,
            None if self.read_only == Some(true) => SideEffects::None,
            None if self.destructive == Some(false) => SideEffects::Reversible,
            None => unsaid,
        }
    }

    /// How a call relates to the answer.
    pub fn calling(&self) -> Calling {
        match (self.records, self.follow_up) {
            (Some(true), _) => Calling::Records,
            (_, Some(true)) if self.urgent == Some(true) => Calling::Urgent,
            (_, Some(true)) => Calling::Late,
            _ => Calling::Waits,
        }
    }

    /// True if a failed call may be repeated: the tool only reads, or is idempotent.
    pub fn may_repeat(&self) -> bool {
        self.idempotent == Some(true) || self.read_only == Some(true)
    }
}

struct Members<'a> {
    members: &'a Map<String, Value>,
    wrong: Vec<String>,
}

impl Members<'_> {
    fn get(&self, field: &str) -> Option<&Value> {
        let value =
            self.members.get(&format!("glyphoxa/{field}")).or_else(|| self.members.get(field));
        value.filter(|value| !value.is_null())
    }

    fn read<T>(&mut self, field: &str, expected: &str, read: fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.get(field)?;
        let read = read(value);
        if read.is_none() {
            self.wrong.push(format!("'{field}' is {value} (expected {expected})"));
        }
        read
    }

    fn millis(&mut self, field: &str) -> Option<Duration> {
        self.read(field, "milliseconds within a day", |value| duration(value.as_f64()?, 1e-3))
    }

    fn seconds(&mut self, field: &str) -> Option<Duration> {
        self.read(field, "seconds within a day", |value| duration(value.as_f64()?, 1.0))
    }

    fn flag(&mut self, field: &str) -> Option<bool> {
        self.read(field, "true or false", Value::as_bool)
    }

    fn texts(&mut self, field: &str) -> Vec<String> {
        let texts = self.read(field, "a word, or several", |value| match value {
            Value::Array(several) => several.iter().map(word).collect(),
            one => Some(vec![word(one)?]),
        });
        texts.unwrap_or_default()
    }
}

fn word(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A duration of `number` times `unit` seconds.
fn duration(number: f64, unit: f64) -> Option<Duration> {
    let duration = Duration::try_from_secs_f64(number * unit).ok()?;
    (duration <= ABSURD).then_some(duration)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(members: Value) -> (Declared, Vec<String>) {
        Declared::from_members(members.as_object().expect("an object"))
    }

    #[test]
    fn prefixed_keys_win_over_plain_ones() {
        let (declared, wrong) = read(json!({
            "glyphoxa/estimated_duration_ms": 120, "estimated_duration_ms": 5,
            "idempotent": true, "cacheable_seconds": 1.5, "category": "lore",
        }));
        assert_eq!(declared.estimated, Some(Duration::from_millis(120)));
        assert_eq!(declared.cacheable, Some(Duration::from_millis(1_500)));
        assert_eq!(
            (declared.idempotent, declared.categories),
            (Some(true), vec!["lore".to_owned()])
        );
        assert!(wrong.is_empty(), "{wrong:?}");
        let (declared, wrong) = read(json!({"category": ["lore", " war "]}));
        assert_eq!((declared.categories, wrong.len()), (vec!["lore".into(), "war".into()], 0));
        assert_eq!(read(json!({"category": ["lore", 3]})).1.len(), 1);
    }

    #[test]
    fn invalid_durations_are_ignored_and_reported() {
        for absurd in [json!(-1), json!("soon"), json!(1e300), json!(90_000_001), json!([1])] {
            let (declared, wrong) = read(json!({"max_duration_ms": absurd}));
            assert_eq!(declared.max, None);
            assert_eq!(wrong.len(), 1, "{absurd}");
            assert!(wrong[0].starts_with("'max_duration_ms' is "), "{wrong:?}");
        }
        assert_eq!(read(json!({"max_duration_ms": null})), (Declared::default(), Vec::new()));
    }

    #[test]
    fn answers_wait_unless_it_is_said_otherwise() {
        let of = |records, follow_up, urgent| {
            Declared { records, follow_up, urgent, ..Declared::default() }.calling()
        };
        assert_eq!(of(None, None, Some(true)), Calling::Waits);
        assert_eq!(of(Some(true), Some(true), None), Calling::Records);
        assert_eq!(of(None, Some(true), None), Calling::Late);
        assert_eq!(of(Some(false), Some(true), Some(true)), Calling::Urgent);
    }

    #[test]
    fn tier_below_declared_duration_has_no_effect() {
        let tier = |floor, estimated, measured| {
            let millis = |ms: Option<u64>| ms.map(Duration::from_millis);
            let (estimated, measured) = (millis(estimated), millis(measured));
            let declared = Declared { floor, estimated, measured, ..Declared::default() };
            declared.floor_without_effect().map(|(_, needed)| needed)
        };
        assert_eq!(tier(Some(Tier::Fast), Some(501), None), Some(Tier::Standard));
        assert_eq!(tier(Some(Tier::Standard), Some(9_000), None), Some(Tier::Deep));
        assert_eq!(tier(Some(Tier::Fast), Some(900), Some(20)), None, "measured elsewhere");
        assert_eq!(tier(Some(Tier::Deep), Some(900), None), None);
        assert_eq!(tier(Some(Tier::Fast), None, None), None, "nothing is declared");
        assert_eq!(tier(None, Some(900), None), None);
    }

    #[test]
    fn stronger_place_wins_field_by_field() {
        let strong = Declared { read_only: Some(false), ..Declared::default() };
        let weak =
            Declared { read_only: Some(true), floor: Some(Tier::Deep), ..Declared::default() };
        let both = strong.over(weak);
        assert_eq!((both.read_only, both.floor), (Some(false), Some(Tier::Deep)));
    }
}
