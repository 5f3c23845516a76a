//! Cartesia as a voice: Sonic over a WebSocket.
//!
//! Entry types: [`Cartesia`], a dialect of [`super::socket`]; [`list()`]. A turn is a context of
//! the service, and continues in another one once that may have expired. A sentence ends when its
//! input is flushed, and the times of its words tell which were heard. Names are respelled. The
//! service speaks at 0.6 to 1.5 times the normal speed; other speeds, and pitch, are applied to the
//! sound. The only style it takes is an emotion. All voices share the sockets. **Never**: the key
//! or the speech in the log.

mod client;
mod context;
mod emotions;
mod failure;
mod list;
mod turn;

pub use self::client::Cartesia;
pub use self::list::list;
use crate::provider::{DefaultId, VoiceIds, VoiceTraits};

pub const NAME: &str = "cartesia";
pub const BASE_URL: &str = "https://api.cartesia.ai";
pub const MODEL: &str = "sonic-3.6";

pub const TRAITS: VoiceTraits = VoiceTraits {
    name: NAME,
    ids: VoiceIds::Unknown,
    default_id: DefaultId::Required,
    english_only: false,
    shifts_formants: false,
};
