//! Connections to MCP servers: child processes and streamable HTTP.
//!
//! Entry type: [`Servers`], which keeps every configured server connected and puts what it offers
//! into the tool host. **Never**: shows a type of `rmcp` to the rest of the program.

mod answer;
mod client;
mod definitions;
mod face;
mod facts;
mod http;
mod kept;
mod known;
mod lines;
pub mod oauth;
mod open_calls;
mod options;
pub mod probe;
mod resources;
mod sampling;
mod server;
mod servers;
mod settle;
mod status;
mod stdio;
mod tail;
mod tool;

pub use facts::Facts;
pub use options::{Auth, ClientCredentials, Credential, Reach, Secret, ServerOptions, Trust};
pub use servers::{Servers, Setup};
pub use status::{State, Status};
