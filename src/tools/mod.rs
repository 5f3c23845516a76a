//! The embedded tool host: what an NPC's model may call, and how a call runs.
//!
//! Entry type: [`ToolHost`], whose [`ToolHost::visible`] and [`ToolHost::execute`] are the only
//! door. **Never**: asks a chat model, knows Discord.

pub mod builtin;
mod catalog;
mod context;
mod host;
mod record;

pub use catalog::{Catalog, Handler, Tool, VisibleTools};
pub use context::{CallContext, Effects};
pub use host::ToolHost;
pub use record::{CallError, CallErrorKind, CallOutput, CallRecord};
