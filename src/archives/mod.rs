//! Archives of others: their members, read one at a time and within limits.
//!
//! Entry functions: [`zip_members`] and [`zip_member`] (every member of a ZIP in memory, or one of them),
//! [`zip_behind`] (whether other data ends with one), [`ZipReader`] (members of a ZIP file by name),
//! [`tgz_members`]. Names inside an archive are compared and shown, never used as paths; what one says
//! about sizes reserves nothing.
//! **Never**: writes a file.

mod budget;
mod error;
mod limits;
#[cfg(test)]
mod made;
mod members;
mod packages;
#[cfg(test)]
mod tests;

pub use limits::Limits;
#[cfg(test)]
pub use made::{tar_bomb, tarred, zipped};
pub use members::{zip_behind, zip_member, zip_members};
pub use packages::{ZipReader, tgz_members};
