//! Every member of a ZIP in memory, in the order of its list.
//!
//! Entry functions: [`zip_members`], [`zip_member`], [`zip_behind`]. A member is held until the caller has
//! it; of the others only the list is in memory.

use std::io::{Cursor, Read};

use zip::{ZipArchive, read::ZipFileEntry, result::ZipError};

use super::{
    budget::{Budget, Budgeted},
    error::ArchiveError,
    limits::Limits,
};

/// Bytes of the list for each member: 46 and a long path.
const LISTED: u64 = 512;
/// Bytes read to find the list, a comment of the archive included.
const TO_LIST: u64 = 256 * 1024;
/// Members up to this many bytes may be packed at any ratio.
const DENSE: u64 = 1024 * 1024;
/// Longest path of a member, in bytes.
const PATH_MAX: usize = 1_024;
/// Begins the record at the end of a ZIP.
const END: &[u8] = b"PK\x05\x06";
/// Length of that record without its comment.
const END_BYTES: usize = 22;
/// Begins each entry of the list.
const ENTRY: &[u8] = b"PK\x01\x02";
/// Begins each member, and so most ZIPs.
const MEMBER: &[u8] = b"PK\x03\x04";
/// Bits of a Unix mode that say what kind of file it is.
const KIND: u32 = 0o170_000;
/// No kind given, a regular file, a folder.
const PLAIN: [u32; 3] = [0, 0o100_000, 0o040_000];

/// Hands every file of the ZIP in `bytes` to `each`, with its path by `/`. Folders are left out. Data before
/// the ZIP does not matter.
pub fn zip_members(
    bytes: &[u8],
    limits: &Limits,
    each: &mut dyn FnMut(&str, Vec<u8>),
) -> Result<(), ArchiveError> {
    let mut archive = opened(bytes, limits)?;
    let mut left = limits.inflated;
    for index in 0..archive.len() {
        let Some(member) = listed(&archive, index, limits)? else { continue };
        let content = unpacked(&mut archive, index, &member, left)?;
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        left = left.checked_sub(length).ok_or(ArchiveError::Inflated(limits.inflated))?;
        each(&member.path, content);
    }
    Ok(())
}

/// The file at `path` in the ZIP in `bytes`, and the number of the others, of which none is unpacked.
pub fn zip_member(
    bytes: &[u8],
    limits: &Limits,
    path: &str,
) -> Result<(Option<Vec<u8>>, usize), ArchiveError> {
    let mut archive = opened(bytes, limits)?;
    let (mut found, mut others) = (None, 0);
    for index in 0..archive.len() {
        let Some(member) = listed(&archive, index, limits)? else { continue };
        if found.is_some() || member.path != path {
            others += 1;
            continue;
        }
        let content = unpacked(&mut archive, index, &member, limits.inflated)?;
        if u64::try_from(content.len()).is_ok_and(|length| length > limits.inflated) {
            return Err(ArchiveError::Inflated(limits.inflated));
        }
        found = Some(content);
    }
    Ok((found, others))
}

type Archive<'b> = ZipArchive<Budgeted<Cursor<&'b [u8]>>>;

fn opened<'b>(bytes: &'b [u8], limits: &Limits) -> Result<Archive<'b>, ArchiveError> {
    let most = u64::try_from(limits.members).unwrap_or(u64::MAX);
    let budget = Budget::new(most.saturating_mul(LISTED).saturating_add(TO_LIST));
    let reader = Budgeted::new(Cursor::new(bytes), budget.clone());
    let archive = ZipArchive::new(reader).map_err(|error| match budget.is_spent() {
        true => ArchiveError::Members(limits.members),
        false => ArchiveError::Broken(error.to_string()),
    })?;
    // From here on the length of what is taken is the bound.
    budget.set(u64::MAX);
    if archive.len() > limits.members {
        return Err(ArchiveError::Members(limits.members));
    }
    Ok(archive)
}

/// Content of the member at `index`, up to a byte more than `left`.
fn unpacked(
    archive: &mut Archive<'_>,
    index: usize,
    listed: &Listed,
    left: u64,
) -> Result<Vec<u8>, ArchiveError> {
    let Listed { path, most } = listed;
    let mut member = archive.by_index(index).map_err(|error| broken(path, &error))?;
    let mut content = Vec::new();
    let mut bounded = member.by_ref().take((*most).min(left).saturating_add(1));
    let read = bounded.read_to_end(&mut content);
    read.map_err(|error| ArchiveError::Broken(error.to_string()))?;
    if u64::try_from(content.len()).is_ok_and(|length| length > *most) {
        return Err(ArchiveError::Bomb(path.clone()));
    }
    Ok(content)
}

/// True if `bytes` are something else, with a ZIP at their end.
pub fn zip_behind(bytes: &[u8]) -> bool {
    if bytes.starts_with(MEMBER) || bytes.starts_with(END) {
        return false;
    }
    let longest = END_BYTES + usize::from(u16::MAX);
    let tail = bytes.get(bytes.len().saturating_sub(longest)..).unwrap_or_default();
    let from = bytes.len() - tail.len();
    let ends = tail.windows(END.len()).enumerate().filter(|(_, it)| *it == END);
    ends.map(|(at, _)| from + at).any(|end| {
        let number = |at: usize| {
            let number = bytes.get(end + at..end + at + 4)?;
            Some(usize::try_from(u32::from_le_bytes(number.try_into().ok()?)).unwrap_or(usize::MAX))
        };
        let list = number(12).and_then(|length| end.checked_sub(length));
        let list = list.and_then(|at| bytes.get(at..end));
        list.is_some_and(|list| list.starts_with(ENTRY))
    })
}

struct Listed {
    path: String,
    /// Most bytes it may unpack to.
    most: u64,
}

/// The member at `index`, unless it is a folder.
fn listed(
    archive: &Archive<'_>,
    index: usize,
    limits: &Limits,
) -> Result<Option<Listed>, ArchiveError> {
    let entry = archive.by_index_data(index).map_err(|error| broken("", &error))?;
    if entry.is_dir() {
        return Ok(None);
    }
    let most = entry.compressed_size().saturating_mul(limits.ratio).max(DENSE);
    Ok(Some(Listed { path: checked(&entry)?, most }))
}

fn checked(entry: &ZipFileEntry<'_>) -> Result<String, ArchiveError> {
    let name = match entry.name() {
        Ok(name) => name.replace('\\', "/"),
        Err(error) => return Err(ArchiveError::Broken(error.to_string())),
    };
    if !is_inside(&name) {
        return Err(ArchiveError::Outside(name));
    }
    if entry.is_symlink() || entry.unix_mode().is_some_and(|mode| !PLAIN.contains(&(mode & KIND))) {
        return Err(ArchiveError::Link(name));
    }
    if entry.encrypted() {
        return Err(ArchiveError::Encrypted(name));
    }
    // Some programs write "./notes/inn.md".
    let parts = name.split('/').filter(|part| !matches!(*part, "" | "."));
    let plain = parts.collect::<Vec<_>>().join("/");
    match plain.is_empty() {
        true => Err(ArchiveError::Outside(name)),
        false => Ok(plain),
    }
}

/// True if `path` stays below the archive's root.
fn is_inside(path: &str) -> bool {
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    !path.is_empty()
        && path.len() <= PATH_MAX
        && !path.starts_with('/')
        && !has_drive
        && !path.contains('\0')
        && path.split('/').all(|part| part != "..")
}

fn broken(name: &str, error: &ZipError) -> ArchiveError {
    match error {
        ZipError::CompressionMethodNotSupported(_) => ArchiveError::Method(name.to_owned()),
        _ => ArchiveError::Broken(error.to_string()),
    }
}
