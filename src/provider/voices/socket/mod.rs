//! Voice services that stream over a WebSocket.
//!
//! Entry types: [`Dialect`], one service's messages, and [`Line`], those of one turn;
//! [`SocketVoice`], which makes a voice service of a dialect. A turn has a socket for itself; after
//! it, the socket is kept for the next turn with the same address. An interrupted turn is cancelled
//! at once, and its socket serves another one only when no sound of it can come.

mod dialect;

pub use self::dialect::{Dialect, Limits, Line, LineEvent, SocketFailure};
