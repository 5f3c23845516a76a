//! Figures as saved and published, with badges, and the ranking of tools by them. **Never**: names
//! a person, arguments, or an endpoint.

use std::{collections::BTreeMap, path::Path, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    state::FILE_NAME,
    store::{NotKept, StoredFigures, read},
};
use crate::{
    domain::{Owner, Tier},
    tools::ToolHost,
};

/// Value of `format` in every report.
const FORMAT: &str = "glyphoxa tools report";
const VERSION: u32 = 1;
/// Longer than any identity or category.
const LONGEST_NAME: usize = 256;
/// Longer than any call: a day, in ms.
const LONGEST_MS: f64 = 24.0 * 60.0 * 60.0 * 1e3;

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("it is not a report")]
    Unreadable(#[from] serde_json::Error),
    #[error("it is not a report of tools")]
    OtherFormat,
    #[error("it was made by a newer version (update glyphoxa)")]
    Newer,
    #[error("'{key}' is {text:?} (expected a name)")]
    Name { key: &'static str, text: String },
    #[error("percentiles of '{tool}' are {figures:?} (expected rising ms)")]
    Percentiles { tool: String, figures: [f64; 3] },
}

/// Figures of one installation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    format: String,
    version: u32,
    /// Version of the program that measured.
    pub glyphoxa: String,
    /// Measured tools, in order of identities.
    pub tools: Vec<Reported>,
}

/// A measured tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    pub tool: String,
    pub category: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// `built-in`, `manifest` or `server`.
    pub source: String,
    pub calls: usize,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    /// Lowest tier it is offered in; null: withheld.
    pub tier: Option<Tier>,
    pub hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_deserializing)]
    pub badge: &'static str,
    /// The turns it fits into.
    #[serde(skip_deserializing)]
    pub tag: &'static str,
}

impl Report {
    pub(super) fn new(kept: BTreeMap<String, StoredFigures>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            glyphoxa: env!("CARGO_PKG_VERSION").to_owned(),
            tools: kept.into_iter().map(|(tool, kept)| Reported::new(tool, kept)).collect(),
        }
    }

    /// Reads another installation's report.
    ///
    /// # Errors
    /// The text is not a usable report.
    pub fn parse(text: &str) -> Result<Self, ReportError> {
        let mut report: Self = serde_json::from_str(text)?;
        if report.format != FORMAT {
            return Err(ReportError::OtherFormat);
        }
        if report.version > VERSION {
            return Err(ReportError::Newer);
        }
        for tool in &mut report.tools {
            tool.check()?;
            tool.judge();
        }
        Ok(report)
    }
}

impl Reported {
    fn new(tool: String, kept: StoredFigures) -> Self {
        let figures = kept.figures();
        let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
        let mut reported = Self {
            tool,
            category: kept.category,
            tags: kept.tags,
            source: kept.source,
            calls: kept.calls,
            p50_ms: millis(figures.p50),
            p95_ms: millis(figures.p95),
            p99_ms: millis(figures.p99),
            tier: kept.tier,
            hash: kept.hash,
            host: kept.host,
            badge: "",
            tag: "",
        };
        reported.judge();
        reported
    }

    fn judge(&mut self) {
        let p50 = Duration::try_from_secs_f64(self.p50_ms / 1e3).unwrap_or(Duration::MAX);
        self.badge = Badge::of(p50).name();
        self.tag = tag(self.tier);
    }

    /// Names must be printable and numbers comparable: the report is foreign.
    fn check(&self) -> Result<(), ReportError> {
        let tags = self.tags.iter().map(|tag| ("tags", tag));
        for (key, text) in
            [("tool", &self.tool), ("category", &self.category)].into_iter().chain(tags)
        {
            if text.is_empty() || text.len() > LONGEST_NAME || text.contains(char::is_control) {
                return Err(ReportError::Name { key, text: text.clone() });
            }
        }
        let figures = [self.p50_ms, self.p95_ms, self.p99_ms];
        let sound = figures.iter().all(|ms| (0.0..=LONGEST_MS).contains(ms));
        if !sound || !figures.is_sorted() {
            return Err(ReportError::Percentiles { tool: self.tool.clone(), figures });
        }
        Ok(())
    }
}

/// Tools by category, fastest first; each with `from`, the source of its figures.
pub fn rank<'a>(
    reports: &'a [(String, Report)],
    category: Option<&str>,
) -> BTreeMap<&'a str, Vec<(&'a str, &'a Reported)>> {
    let mut ranked: BTreeMap<&str, Vec<(&str, &Reported)>> = BTreeMap::new();
    for (from, report) in reports {
        for tool in &report.tools {
            for its in std::iter::once(&tool.category).chain(&tool.tags) {
                if category.is_none_or(|wanted| wanted.eq_ignore_ascii_case(its)) {
                    ranked.entry(its).or_default().push((from, tool));
                }
            }
        }
    }
    for tools in ranked.values_mut() {
        tools.sort_by(|(from, a), (other, b)| {
            let figures = a.p50_ms.total_cmp(&b.p50_ms).then(a.p95_ms.total_cmp(&b.p95_ms));
            figures.then_with(|| (&a.tool, from).cmp(&(&b.tool, other)))
        });
    }
    ranked
}

/// Speed class by measured p50.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Badge {
    /// Under 50 ms.
    Lightning,
    /// Under 200 ms.
    Fast,
    /// Under one second.
    Standard,
    Slow,
}

impl Badge {
    pub fn of(p50: Duration) -> Self {
        let under = |millis| p50 < Duration::from_millis(millis);
        match () {
            () if under(50) => Self::Lightning,
            () if under(200) => Self::Fast,
            () if under(1_000) => Self::Standard,
            () => Self::Slow,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Lightning => "Lightning",
            Self::Fast => "Fast",
            Self::Standard => "Standard",
            Self::Slow => "Slow",
        }
    }
}

/// The turns a tool fits into, by its lowest tier.
pub const fn tag(tier: Option<Tier>) -> &'static str {
    match tier {
        Some(Tier::Fast) => "FAST compatible",
        Some(Tier::Standard) => "STANDARD and DEEP",
        Some(Tier::Deep) => "DEEP only",
        None => "withheld",
    }
}

impl ToolHost {
    /// Saves new figures for the next run; does nothing without a folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_figures(&self) -> Result<(), NotKept> {
        let figures = self.catalog().figures();
        figures.remember(&self.catalog().tools());
        figures.write()
    }
}

/// Report of the installation's tools from the figures in `folder` for `environment`.
pub fn report(folder: &Path, environment: &str) -> Report {
    report_of(folder, environment, |owner, _| owner.is_none())
}

/// Report of the tools accepted by `is_meant`, which gets owner and identity.
pub fn report_of(
    folder: &Path,
    environment: &str,
    is_meant: impl Fn(Option<Owner>, &str) -> bool,
) -> Report {
    Report::new(read(&folder.join(FILE_NAME)).newest(environment, is_meant))
}
