//! The embedded tool host: the tools an NPC's model may call, and the calls. The only entrance is
//! [`ToolHost`], with [`ToolHost::visible`] and [`ToolHost::execute`]. **Never**: asks a chat
//! model, knows Discord.

mod approval;
mod authority;
pub mod builtin;
mod cache;
mod calibrate;
mod catalog;
mod caution;
mod changes;
mod condition;
pub mod connection;
mod context;
mod declared;
mod definition;
mod dispatch;
mod figures;
mod host;
mod late_calls;
mod latency;
pub mod manifest;
mod names;
mod offer;
mod output;
mod policy;
mod record;
mod schema;
mod select;
mod snapshot;
mod state;
mod tool;
mod url;
mod visible;

pub use authority::{
    Authority, Caller, NotSampled, OfferedNames, Payment, Payments, SampleRequest, Sampled, Sampler,
};
pub use calibrate::{Calibrated, CalibrationOutcome, is_measured_by_itself, picked};
pub use catalog::Catalog;
pub use changes::{CastChanges, allowed};
pub use condition::When;
pub use context::{
    ApprovalRequest, CallContext, Decision, Effects, FollowUp, Form, Progress, Taint,
};
pub use declared::{Declared, SideEffects};
pub use definition::{Definition, Handler, SourceKind};
pub use figures::{
    Badge, Report, Reported, calibrated_line, millis, rank, report, report_of, reported_line, tag,
    tool_line,
};
pub use host::ToolHost;
pub use latency::{Latency, LatencySummary, Probed, percentiles};
pub use names::{Entries, ServerKey, bare, canonical, identity};
pub use offer::Offer;
pub use output::{Attachment, CallOutput, Caption, Part, framed, framed_if, framed_inline};
pub use policy::{SessionCalls, TurnLimits};
pub use record::{CallError, CallErrorKind, CallRecord, NamedBy};
pub use schema::Schema;
pub use select::{DISCOVER, Query, SelectionOptions, found_in};
pub use snapshot::Snapshot;
pub use state::Permits;
pub use tool::{CatalogEntry, Refused, Tool};
pub use visible::VisibleTools;

#[cfg(test)]
mod tests;
