//! Orders of spoken commands, their words still to be filled in.

/// The order of a form, its words still to be filled in.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// [`super::Command::Mute`]
    Mute,
    /// [`super::Command::Unmute`]
    Unmute,
    /// [`super::Command::MuteAll`]
    MuteAll,
    /// [`super::Command::UnmuteAll`]
    UnmuteAll,
    /// [`super::Command::Say`]
    Say,
    /// [`super::Command::Think`]
    Think,
    /// [`super::Command::Faster`]
    Faster,
    /// [`super::Command::Scene`]
    Scene,
}
