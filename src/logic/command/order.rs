//! Kinds of spoken commands.

/// A [`super::Command`] without its NPC or words.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    Mute,
    Unmute,
    MuteAll,
    UnmuteAll,
    Say,
    Think,
    Faster,
    Scene,
}
