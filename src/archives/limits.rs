//! How much an archive may hold.

/// Limits of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub members: usize,
    /// Most bytes of all members together, unpacked.
    pub inflated: u64,
    /// Most times its packed length that a member unpacks to; members of up to 1 MiB may be denser.
    pub ratio: u64,
}

impl Limits {
    /// Files that a game master imports: a vault of notes or a world fits, and so does memory.
    pub const IMPORT: Self = Self { members: 10_000, inflated: 200_000_000, ratio: 200 };
}
